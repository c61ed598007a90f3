import Foundation
import Gannet
import GannetFoundation
import Testing

@Suite("A load's error as Foundation sees it")
struct ConnectionErrorBridgingTests {
  private let refused = ConnectionError(
    .cannotConnectToHost, phase: .connecting, url: "http://a.example/b", cause: .system(errno: 111),
    reason: "the connection was refused")

  @Test("localizedDescription is the reason")
  func localizedDescription() {
    let error: any Error = refused
    #expect(error.localizedDescription == "the connection was refused")
    #expect((error as NSError).localizedDescription == "the connection was refused")
  }

  @Test("as NSError it has Apple's domain, number and keys")
  func bridged() {
    let error = refused as NSError
    #expect(error.domain == NSURLErrorDomain)
    #expect(error.code == NSURLErrorCannotConnectToHost)
    #expect(error.userInfo["NSErrorFailingURLStringKey"] as? String == "http://a.example/b")
    #expect(error.userInfo[NSURLErrorFailingURLErrorKey] as? URL == URL(string: "http://a.example/b"))
    #expect(
      error.userInfo[NSDebugDescriptionErrorKey] as? String
        == "http://a.example/b: connecting: the connection was refused (cannotConnectToHost -1004)")
    let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError
    #expect(underlying?.domain == NSPOSIXErrorDomain)
    #expect(underlying?.code == 111)
  }

  @Test("a cause that is no system call's, and a text that is no URL, leave their keys out")
  func withoutCause() {
    let error = ConnectionError(.badURL, phase: .preparing, url: "", reason: "it is empty") as NSError
    #expect(error.userInfo[NSUnderlyingErrorKey] == nil)
    #expect(error.userInfo[NSURLErrorFailingURLErrorKey] == nil)
    #expect(error.userInfo["NSErrorFailingURLStringKey"] as? String == "")
  }

  @Test("every code is its number", arguments: ConnectionError.Code.allCases)
  func code(_ code: ConnectionError.Code) {
    let error = ConnectionError(code, phase: .receiving, url: "http://a.example/", reason: "so") as NSError
    #expect(error.code == code.rawValue)
  }

  @Test(
    "the numbers are Foundation's",
    arguments: [
      (ConnectionError.Code.timedOut, URLError.Code.timedOut), (.cancelled, .cancelled),
      (.cannotFindHost, .cannotFindHost), (.networkConnectionLost, .networkConnectionLost),
      (.notConnectedToInternet, .notConnectedToInternet),
      (.badServerResponse, .badServerResponse), (.httpTooManyRedirects, .httpTooManyRedirects),
      (.secureConnectionFailed, .secureConnectionFailed),
      (.serverCertificateHasBadDate, .serverCertificateHasBadDate),
      (.serverCertificateUntrusted, .serverCertificateUntrusted),
      (.serverCertificateHasUnknownRoot, .serverCertificateHasUnknownRoot),
      (.serverCertificateNotYetValid, .serverCertificateNotYetValid),
      (.clientCertificateRequired, .clientCertificateRequired),
      (.userCancelledAuthentication, .userCancelledAuthentication),
      (.cannotDecodeContentData, .cannotDecodeContentData), (.cannotMoveFile, .cannotMoveFile),
    ])
  func numbers(_ code: ConnectionError.Code, _ foundation: URLError.Code) {
    #expect(code.rawValue == foundation.rawValue)
  }
}
