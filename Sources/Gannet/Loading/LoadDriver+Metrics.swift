import GannetHTTP
import GannetPolicy
import GannetSockets
import GannetTLS

// What a load did on the network, noted as it happens when that is asked for.
extension LoadDriver {
  private typealias Transaction = URLConnectionMetrics.Transaction

  /// A connection is asked for; a fresh one where a kept one has failed the request.
  func beginTransaction(fresh: Bool) {
    let request = machine.request
    metrics?.redirectCount = machine.redirectCount
    var transaction = Transaction(
      method: request.method, urlString: request.url.withoutUserInfo.text, fetchStart: client.loop.now)
    if fresh { transaction.connectionChoice = .keptOneFailed }
    metrics?.transactions.append(transaction)
  }

  /// A connection is being opened for this load.
  func opens(_ wire: ConnectionDriver, besideOthers: Bool) {
    noteTransaction { transaction in
      guard transaction.connectionChoice == nil else { return }
      transaction.connectionChoice = besideOthers ? .othersBusy : .noneOpen
    }
  }

  /// There is one.
  func noteConnected(_ wire: ConnectionDriver, reused: Bool) {
    let local = wire.localAddress
    noteTransaction { transaction in
      transaction.connectionNumber = wire.number
      transaction.remoteAddress = wire.peer?.host
      transaction.remotePort = wire.peer?.port.map { Int($0) }
      transaction.localAddress = local?.host
      transaction.localPort = local?.port.map { Int($0) }
      transaction.tlsVersion = wire.tls?.negotiatedVersion
      transaction.tlsCipher = wire.tls?.cipher
      if reused { transaction.connectionChoice = .kept } else { transaction.note(wire.times) }
    }
  }

  /// The request's first byte is about to be sent.
  func noteRequestStart() {
    let now = client.loop.now
    noteTransaction { $0.requestStart = now }
  }

  /// The whole request has been handed to the system.
  func requestSent() {
    guard metrics != nil else { return }
    let now = client.loop.now
    noteTransaction { $0.requestEnd = now }
  }

  /// Bytes have come for this load.
  func noteResponseBytes() {
    let now = client.loop.now
    noteTransaction { if $0.responseStart == nil { $0.responseStart = now } }
  }

  /// The final response's head is there.
  func noteResponse(_ status: Int) { noteTransaction { $0.statusCode = status } }

  /// Bytes of the body go to the delegate.
  func noteDelivered(_ count: Int) {
    noteTransaction { $0.countOfResponseBodyBytesAfterDecoding += Int64(count) }
  }

  /// The connection is done with this load; `reason` says why it serves no other.
  func exchangeEnded(_ wire: ConnectionDriver, _ reason: ConnectionCloseReason?) {
    guard metrics != nil else { return }
    let now = client.loop.now
    let bodyBytes = Int64(bytesSent)
    noteTransaction { transaction in
      // One that never came about has got so far.
      if transaction.connectionNumber == nil { transaction.note(wire.times) }
      // One that another transaction has ended is not this one's.
      guard transaction.connectionNumber == wire.number else { return }
      transaction.responseEnd = now
      transaction.closeReason = reason
      let sent = wire.bytesSent
      let head = min(sent, Int64(wire.requestHeadBytes))
      transaction.countOfRequestHeaderBytesSent = head
      transaction.countOfRequestBodyBytesSent = sent - head
      transaction.countOfRequestBodyBytesBeforeEncoding = bodyBytes
      transaction.countOfResponseHeaderBytesReceived = wire.responseHeadBytes
      transaction.countOfResponseBodyBytesReceived = wire.bytesReceived - wire.responseHeadBytes
    }
  }

  private func noteTransaction(_ change: (inout Transaction) -> Void) { metrics?.changeLast(change) }
}

extension URLConnectionMetrics {
  /// Changes the transaction that is under way, in its place.
  fileprivate mutating func changeLast(_ change: (inout Transaction) -> Void) {
    guard let last = transactions.indices.last else { return }
    change(&transactions[last])
  }
}

extension URLConnectionMetrics.Transaction {
  /// How the connection was opened, as far as it was.
  fileprivate mutating func note(_ times: ConnectionTimes?) {
    guard let times else { return }
    (domainLookupStart, domainLookupEnd) = (times.lookupStart, times.lookupEnd)
    (connectStart, connectEnd) = (times.connectStart, times.connectEnd)
    (secureConnectionStart, secureConnectionEnd) = (times.secureStart, times.secureEnd)
  }
}
