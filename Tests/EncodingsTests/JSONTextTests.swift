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

    @Test(arguments: [
        ("[0,[],0]", 4), (#"{"a":[1],"b":{}}"#, 6), ("0", 1), (#"[{"":""}]"#, 4),
    ])
    func `is refused where it has more names and values than are taken`(text: String, count: Int) {
        let bytes = Array(text.utf8)
        #expect(throws: Never.self) {
            _ = try JSONValue(parsing: bytes, placeLimit: count)
            _ = try JSONValue(parsingStoreText: bytes, placeLimit: count)
            _ = try JSONText(parsing: bytes, placeLimit: count)
        }
        let limit = count - 1
        let faults = [
            #expect(throws: JSONFault.self) { try JSONValue(parsing: bytes, placeLimit: limit) },
            #expect(throws: JSONFault.self) {
                try JSONValue(parsingStoreText: bytes, placeLimit: limit)
            },
            #expect(throws: JSONFault.self) {
                _ = try JSONText(parsing: bytes, placeLimit: limit)
            },
        ]
        for fault in faults {
            #expect(fault?.message == "more than \(limit) names and values", "\(text)")
        }
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

/// A text of which only what is asked for is copied.
struct `A JSON text in place` {
    private let text: JSONText

    init() throws {
        let line = #"{"a":"x","b":{"c":[1,{"d":[]},"\u00e9"],"e":true},"f":null,"g":-0.5}"#
        text = try JSONText(parsing: Array(line.utf8))
    }

    @Test func `has its members in order, each with its value`() throws {
        let members = try members().map {
            (text.string($0.name), text.value($0.value).description)
        }
        let expected = [
            ("a", #""x""#), ("b", #"{"c":[1,{"d":[]},"é"],"e":true}"#), ("f", "null"),
            ("g", "-0.5"),
        ]
        #expect(members.map(\.0) == expected.map(\.0))
        #expect(members.map(\.1) == expected.map(\.1))
    }

    @Test func `takes no value for one of another kind`() throws {
        let members = try members()
        let (a, b, f, g) = (members[0].value, members[1].value, members[2].value, members[3].value)
        #expect(text.string(a) == "x" && text.number(a) == nil && text.bool(a) == nil)
        #expect(text.memberCount(of: b) == 2 && text.elementCount(of: b) == nil)
        #expect(text.string(f) == nil && text.bool(f) == nil && text.memberCount(of: f) == nil)
        #expect(text.number(g) == "-0.5" && text.string(g) == nil)
        #expect(text.milliseconds(a) == nil && text.index(g, in: WordList(["-0.5"])) == nil)
        #expect(text.index(a, in: WordList(["y", "x"])) == 1)
    }

    private func members() throws -> [(name: Int, value: Int)] {
        let count = try #require(text.memberCount(of: JSONText.root))
        var members = JSONMembers(of: JSONText.root, count)
        var found: [(name: Int, value: Int)] = []
        while let member = members.next(in: text) { found.append(member) }
        return found
    }

    @Test func `is the same laid out from a value`() throws {
        let value = text.value(JSONText.root)
        #expect(JSONText(value).value(JSONText.root) == value)
        #expect(try JSONValue(parsing: Array(value.description.utf8)) == value)
    }
}

/// Words that are found by their bytes.
struct `A list of words` {
    @Test func `finds each of its words and no other`() {
        let words = ["", "a", "b", "ab", "ba", "aXb", "aYb", "purchase.renewed"]
        let list = WordList(words)
        #expect(words.map { list.index(of: $0) } == Array(0..<words.count))
        for other in ["aZb", "c", "abc", "purchase.renewee", "e\u{301}"] {
            #expect(list.index(of: other) == nil)
        }
    }

    // Two ways to write an accent are two words.
    @Test func `compares bytes`() {
        #expect(WordList(["\u{e9}"]).index(of: "e\u{301}") == nil)
        #expect(WordList(["\u{e9}"]).index(of: "\u{e9}") == 0)
    }
}
