import FoundationEssentials
import GannetHTTP
import GannetPolicy
import GannetSockets

// How a load's request, and its body, get to the connection.
extension LoadDriver {
  /// Writes the request on the connection, if every part of it can be sent.
  func send(_ answer: AuthenticationPolicy.Answer?) {
    guard let wire else { return }
    guard wire.phase != .closed else {
      // It ended while the delegate was asked for a body, and ran the loop.
      let error = ConnectionError(
        .networkConnectionLost, phase: .preparing, url: safeURL,
        reason: "the connection ended before anything was sent")
      return lost(error, receivedAnything: false, sentAnything: false)
    }
    bytesSent = 0
    sentAt = client.loop.time
    sentAuthorization = nil
    if case .basic(let value) = answer { sentAuthorization = value }
    lookForCookies()
    if metrics != nil { noteRequestStart() }
    do throws(ConnectionError) {
      wire.begin(try outgoing(authorization: try authorizationField(answer)))
    } catch {
      machine.cancelled()
      wire.abandon()
      self.wire = nil
      fail(error)
    }
  }

  private func outgoing(authorization: [UInt8]?) throws(ConnectionError) -> OutgoingRequest {
    let url = machine.request.url
    guard let body = request.body, machine.request.body != .none else {
      bodyLength = 0
      return head(try composed(url, authorization, request.body == nil ? .none : .length(0)))
    }
    guard case .data(let data) = body.source else { return try outgoing(body, url, authorization) }
    bodyLength = data.count
    var outgoing = head(try composed(url, authorization, .length(Int64(data.count))))
    if data.count <= OutgoingRequest.smallBodyBytes, !machine.expectsContinue {
      outgoing.head.append(contentsOf: data)
      outgoing.joinedBytes = data.count
    } else {
      outgoing.body = OutgoingBody(.data(data))
    }
    return outgoing
  }

  private func outgoing(
    _ body: URLRequest.Body, _ url: HTTPURL, _ authorization: [UInt8]?
  ) throws(ConnectionError) -> OutgoingRequest {
    let made: OutgoingBody
    let frame: RequestComposer.BodyFrame
    switch body.source {
    case .data(let data):
      (made, frame) = (OutgoingBody(.data(data)), .length(Int64(data.count)))
    case .file(let path):
      let file: RegularFile
      do throws(SystemError) { file = try RegularFile(path: path) } catch {
        throw ConnectionError(RequestBodyError.unopened(path, error), phase: .preparing, url: safeURL)
      }
      (made, frame) = (OutgoingBody(.file(file)), .length(file.byteCount))
    case .stream(let stream): (made, frame) = try outgoing(stream)
    case .form(let form): (made, frame) = try outgoing(stream(of: form))
    }
    bodyLength = made.length.map { Int(clamping: $0) } ?? -1
    var outgoing = head(try composed(url, authorization, frame))
    outgoing.body = made
    return outgoing
  }

  private func outgoing(
    _ stream: BodyStream
  ) throws(ConnectionError) -> (OutgoingBody, RequestComposer.BodyFrame) {
    if stream.isSpent { throw ConnectionError(RequestBodyError.spent, phase: .preparing, url: safeURL) }
    var stream = stream
    if stream.length == nil, !stream.hasTrailers, let given = request.givenBodyLength {
      stream = stream.announcing(given)
    }
    let length = stream.hasTrailers ? nil : stream.length
    return (
      OutgoingBody(.stream(stream, BodyPump(for: connection, on: client.loop.handle))),
      length.map { .length($0) } ?? .chunked(trailers: stream.trailers)
    )
  }

  private func stream(of form: MultipartForm) throws(ConnectionError) -> BodyStream {
    do throws(RequestError) { try form.checkForSending() } catch {
      throw ConnectionError(error, url: safeURL)
    }
    do throws(RequestBodyError) {
      if form.isSpent { throw .spent }
      return try form.stream()
    } catch {
      throw ConnectionError(error, phase: .preparing, url: safeURL)
    }
  }

  private func composed(
    _ url: HTTPURL, _ authorization: [UInt8]?, _ frame: RequestComposer.BodyFrame
  ) throws(ConnectionError) -> RequestComposer {
    let expects = machine.expectsContinue
    if let addedFields {
      var completed = request
      completed.fields.append(contentsOf: addedFields)
      return try RequestComposer(
        completed, url: url, authorization: authorization, body: frame, expects: expects)
    }
    guard authorization == nil, !expects, url.text == request.urlString, request.hasKeptHead else {
      return try RequestComposer(
        request, url: url, authorization: authorization, body: frame, expects: expects)
    }
    return try request.composed(for: url)
  }

  private func head(_ composed: RequestComposer) -> OutgoingRequest {
    body.decodes = composed.decodes
    return OutgoingRequest(
      method: machine.request.method, head: composed.head, awaitsContinue: composed.awaitsContinue,
      mayUpgrade: composed.mayUpgrade, closes: composed.closes)
  }

  // MARK: The body's way

  /// The connection has begun to read the body's stream.
  func beganStream() { machine.beganStream() }

  /// The body's stream has more, or has ended.
  func bodyHasMore() { wire?.bodyHasMore() }

  func sentBody(_ count: Int) {
    touched()
    bytesSent += count
    guard !isCancelled else { return }
    dataDelegate?.connection(
      connection, didSendBodyData: count, totalBytesWritten: bytesSent,
      totalBytesExpectedToWrite: bodyLength)
  }

  /// The body cannot be sent whole. The connection is closed already.
  func failedBody(_ error: ConnectionError) {
    wire = nil
    guard !isCancelled, !hasEnded else { return }
    machine.cancelled()
    fail(error)
  }

  /// The body that is a stream has been sent, and has to be sent again.
  func askNewBody() {
    let body: URLRequest.Body? =
      if let dataDelegate { dataDelegate.connection(connection, needNewBodyStream: request) } else {
        request.body
      }
    guard !isCancelled else { return }
    // What can be had but once is no new body.
    let fresh = body.flatMap { $0.isSpent ? nil : $0 }
    request.body = fresh
    feed { $0.answeredNewBody(fresh.map { LoadMachine.Body($0) }, into: &$1) }
  }
}

extension URLRequest {
  /// Whether its head, without credentials, is always the same: what of it depends on a file or a stream is not.
  fileprivate var hasKeptHead: Bool {
    switch body?.source {
    case nil, .data: true
    case .file, .stream, .form: false
    }
  }

  /// The length that the caller's own `Content-Length` promises for a stream whose length is not known otherwise, as
  /// Cocoa has it.
  fileprivate var givenBodyLength: Int64? {
    guard let text = fields["Content-Length"], text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
    return Int64(text)
  }
}
