import Encodings
import Testing

/// JSON as it is read and written: exact, in order, and in one spelling.
struct `JSON text` {
    @Test(arguments: [
        "null", "true", "[]", "{}", "0", "-0.10e+5", "123456789012345678901234567890",
        #"{"b":1,"a":[null,"x"]}"#, #""\"\\\n\t\u0001é😀""#,
    ])
    func `is written as it was read`(text: String) throws {
        let value = try JSONValue(parsing: Array(text.utf8))
        #expect(value.description.utf8.elementsEqual(text.utf8))
    }

    @Test func `has one value for each spelling of a text`() throws {
        let escaped = try JSONValue(parsing: Array(#""\u00e9\uD83D\uDE00\/""#.utf8))
        #expect(escaped == .string("\u{e9}\u{1F600}/"))
    }

    @Test(arguments: [
        ("", 0, "unexpected end"), ("01", 1, "unexpected text after the value"),
        ("[1,]", 3, "expected a value"), (#"{"a":1,"a":2}"#, 10, "repeated member name"),
        (#""\uD800""#, 7, "lone surrogate"), (#""\u00g0""#, 5, "expected four hexadecimal digits"),
        (#""\x""#, 3, "unknown escape"), ("nul", 3, "expected null"), (".5", 0, "expected a value"),
        ("\"\u{1}\"", 1, "control character in a string"),
    ])
    func `is refused with the place where reading stopped`(text: String, at: Int, why: String) {
        let fault = #expect(throws: JSONFault.self) { try JSONValue(parsing: Array(text.utf8)) }
        #expect(fault?.offset == at && fault?.message == why, "\(text)")
    }

    // Stores, rule 6: another's text that is not well-formed is dropped, and none stands for another
    @Test(arguments: [
        (#"{"a":"x\ud83d","b":1}"#, #"{"a":null,"b":1}"#),
        (#"["\udc00","\ud83d\ud83d\ude00","\ud83d\n","\ud83d\u0041"]"#, "[null,null,null,null]"),
        (#"{"\ud83d":1,"\ud83d":{"c":"\udfff"},"a":"\ud83d\ude00"}"#, #"{"a":"😀"}"#),
        (#"{"a":{"\udfff":[1]},"b":["y"]}"#, #"{"a":{},"b":["y"]}"#),
    ])
    func `of a store is read without its broken texts`(text: String, expected: String) throws {
        let bytes = Array(text.utf8)
        #expect(try JSONValue(parsingStoreText: bytes).description == expected)
        #expect(throws: JSONFault.self) { try JSONValue(parsing: bytes) }
    }

    @Test(arguments: [#"{"a":"\ud83d""#, #""\ud83d\u00g0""#, #"{"a":1,"a":2}"#, #""\x""#])
    func `of a store is refused where more is wrong with it`(text: String) {
        #expect(throws: JSONFault.self) { try JSONValue(parsingStoreText: Array(text.utf8)) }
    }

    @Test func `is refused where it is no text of UTF-8 or nested too deeply`() {
        #expect(throws: JSONFault.self) { try JSONValue(parsing: [0x22, 0xC0, 0x80, 0x22]) }
        let deep = JSONValue.depthLimit + 1
        let nested = String(repeating: "[", count: deep) + String(repeating: "]", count: deep)
        #expect(throws: Never.self) {
            try JSONValue(parsing: Array(nested.utf8.dropFirst().dropLast()))
        }
        #expect(throws: JSONFault.self) { try JSONValue(parsing: Array(("[" + nested + "]").utf8)) }
    }
}
