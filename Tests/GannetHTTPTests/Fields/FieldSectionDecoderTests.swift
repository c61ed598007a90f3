import GannetHTTP
import TestSupport
import Testing

@Suite("Field section decoder")
struct FieldSectionDecoderTests {
  @Test(
    "fields of a head, at every cut",
    arguments: [
      Row("\r\n", "[]"),
      Row("A: b\r\nc:d\r\n\r\nrest", "[A=b; c=d] | left 4"),
      Row("A:  \t b c\t \r\n\r\n", "[A=b c]"),
      Row("A:\r\nB:   \r\n\r\n", "[A=; B=]"),
      Row("A: b\nC: d\n\n", "[A=b; C=d]"),
      Row("A: b:c\r\n\r\n", "[A=b:c]"),
      Row("A:: b\r\n\r\n", "[A=: b]"),
      Row("A: \u{E9}\r\n\r\n", "[A=é]"),
      Row("X: a\r\n b\r\n\r\n", "[X=a b]"),
      Row("X: a  \r\n \t  b\r\n\tc\r\n\r\n", "[X=a b c]"),
      Row("X:\r\n a\r\n\r\n", "[X=a]"),
      Row("X: a\r\n \r\n\r\n", "[X=a]"),
      Row("X: a\r\n \r\n b\r\nY: c\r\n\r\n", "[X=a b; Y=c]"),
      Row(": x\r\nA: b\r\n\r\n", "[A=b]"),
      Row("X\r\nA: b\r\n\r\n", "[A=b]"),
      Row("X y z\r\nA: b\r\n\r\n", "[A=b]"),
      Row(" X: y\r\nA: b\r\n\r\n", "[A=b]"),
      Row("A : b\r\n c\r\nD: e\r\n\r\n", "[D=e]"),
      Row("X\n d\nA: b\n\n", "[A=b]"),
      Row("!#$%&'*+-.^_`|~09azAZ: x\r\n\r\n", "[!#$%&'*+-.^_`|~09azAZ=x]"),
    ])
  func head(row: Row) { row.check(Decoders.fields(.head, Bytes.latin1(row.input))) }

  @Test(
    "fields refused, at their first wrong byte",
    arguments: [
      Row("A(: b\r\n", "error field-name at 1"),
      Row("A\u{0}: b\r\n", "error field-name at 1"),
      Row("\u{E9}: b\r\n", "error field-name at 0"),
      Row("Content-Length : 5\r\n", "error field-name at 15"),
      Row("transfer-encoding\t : chunked\r\n", "error field-name at 19"),
      Row("A: b\u{0}\r\n", "error field-value at 4"),
      Row("A: \u{7F}\r\n", "error field-value at 3"),
      Row("A: b\u{1B}\r\n", "error field-value at 4"),
      Row("A: b\rC: d\r\n", "error line-end at 5"),
      Row("A: b\r\r\n", "error line-end at 5"),
      Row("A\r: b\r\n", "error line-end at 2"),
      Row("A \u{0}\r\n", "error field-line at 2"),
      Row(": \u{0}\r\n", "error field-line at 2"),
      Row("\rA: b\r\n", "error line-end at 1"),
    ])
  func refused(row: Row) { row.check(Decoders.fields(.head, Bytes.latin1(row.input))) }

  @Test(
    "fields of a part: more is tolerated",
    arguments: [
      Row(
        "CONTENT-TYPE:image/jpeg\r\ncontent-length :900\r\nX:\t9\n\n",
        "[CONTENT-TYPE=image/jpeg; content-length=900; X=9]"),
      Row("A \t : b\n\n", "[A=b]"),
      Row("<html>: x\nA: b\n\n", "[A=b]"),
      Row("na\u{E9}me: x\nA: b\n\n", "[A=b]"),
      Row("\n", "[]"),
      Row("A\u{0}: b\n", "error field-name at 1"),
    ])
  func part(row: Row) { row.check(Decoders.fields(.part, Bytes.latin1(row.input))) }

  @Test("the limit on the fields of a part")
  func partLimit() {
    var limits = Limits()
    limits.partHeadBytes = 6
    Row("", "[A=b]").check(Decoders.fields(.part, Array("A: b\n\n".utf8), limits: limits))
    Row("", "error head-size at 6").check(Decoders.fields(.part, Array("A: bc\n\n".utf8), limits: limits))
  }

  @Test("a folded line counts with the lines that it goes on with")
  func foldedLineLimit() {
    for (limit, outcome) in [(8, "error line-size at 8"), (10, "[A=b c]")] {
      var limits = Limits()
      limits.lineBytes = limit
      let input = "A: b\r\n c\r\n\r\n"
      Row(input, outcome).check(Decoders.fields(.head, Bytes.latin1(input), limits: limits))
    }
  }
}
