import Encodings
import Entitlements
import Testing

/// The one reader of the members of an object from outside.
struct `A reader of an object` {
    private static func reader(_ text: String) throws -> ObjectReader {
        try ObjectReader(
            JSONValue(parsing: Array(text.utf8)),
            at: "store",
            of: ["name", "names", "count", "isOn"]
        )
    }

    @Test func `reads members, and nothing where they are absent or null`() throws {
        let read = try Self.reader(#"{"name":"a","names":["b","c"],"count":7,"isOn":false}"#)
        #expect(try read.text("name") == "a" && read.texts("names") == ["b", "c"])
        #expect(try read.integer("count") == 7 && read.flag("isOn") == false)
        let empty = try Self.reader(#"{"name":null}"#)
        #expect(try empty.text("name") == nil && empty.texts("names") == nil)
        #expect(try empty.integer("count") == nil && empty.flag("isOn") == nil)
    }

    @Test(arguments: [
        ("[]", "store", "expected an object"),
        (#"{"other":1}"#, "store.other", "not a member that is known"),
        (#"{"name":""}"#, "store.name", "expected text"),
        (#"{"names":["a",7]}"#, "store.names[1]", "expected text"),
        (#"{"names":"a"}"#, "store.names", "expected an array of texts"),
        (#"{"count":0}"#, "store.count", "expected a positive whole number"),
        (#"{"count":1.5}"#, "store.count", "expected a positive whole number"),
        (#"{"isOn":1}"#, "store.isOn", "expected true or false"),
    ])
    func `refuses the rest by its path`(text: String, path: String, detail: String) {
        let fault = #expect(throws: InputFault.self) {
            let reader = try Self.reader(text)
            _ = try reader.text("name")
            _ = try reader.texts("names")
            _ = try reader.integer("count")
            _ = try reader.flag("isOn")
        }
        #expect(fault?.path == path && fault?.detail == detail)
    }

    @Test func `asks for what is required`() throws {
        let reader = ObjectReader(.members(["a": "x", "b": .null]))
        #expect(try reader.required("a", "expected text", \.string) == "x")
        for name in ["b", "c"] {
            let fault = #expect(throws: InputFault.self) {
                try reader.required(name, "expected text", \.string)
            }
            #expect(fault == InputFault(.invalidValue, name, "expected text"))
        }
    }
}
