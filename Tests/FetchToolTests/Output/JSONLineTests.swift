import FetchTool
import GannetHTTP
import Testing

@Suite("Output: lines of JSON")
struct JSONLineTests {
  @Test func keepsTheOrderOfItsMembers() {
    var line = JSONLine(event: "e")
    line.add("b", "x")
    line.add("a", 1 as Int64)
    line.add("c", nil as Int?)
    line.add("d", nil as String?)
    line.add("t", true)
    line.add("f", FieldList([(name: "A", value: "1"), (name: "a", value: "")]))
    line.add("n", FieldList())
    line.add("o") { $0.add("k", 2) }
    line.add("p", object: nil)
    #expect(
      line.text == #"{"event":"e","b":"x","a":1,"c":null,"d":null,"t":true,"f":[["A","1"],["a",""]],"#
        + #""n":[],"o":{"k":2},"p":null}"#)
  }

  @Test(arguments: [
    ("\"\\/", #"\"\\/"#), ("\n\r\t", #"\n\r\t"#), ("\u{0}\u{1F}\u{7F}\u{9F}", #"\u0000\u001f\u007f\u009f"#),
    ("é\u{2028}\u{1F600}", "é\\u2028\u{1F600}"),
  ])
  func escapesWhatALineCannotHold(_ text: String, _ escaped: String) {
    var line = JSONLine(event: "")
    line.add("t", text)
    #expect(line.text == "{\"event\":\"\",\"t\":\"\(escaped)\"}")
  }
}
