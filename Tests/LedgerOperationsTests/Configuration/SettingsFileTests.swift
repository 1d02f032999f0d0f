import LedgerOperations
import Testing

struct `A configuration file` {
    private static func file(_ text: String) throws -> SettingsFile {
        try SettingsFile(Array(text.utf8), path: "entitle.json")
    }

    @Test func `sets text, numbers and flags`() throws {
        let file = try Self.file(#"{"host":"::1","port":8792,"publicLog":true,"limits":""}"#)
        #expect(file["host"] == "::1" && file["port"] == "8792")
        #expect(file["publicLog"] == "true" && file["limits"] == "")
        #expect(file["ledger"] == nil)
        try file.requireKnown(["host", "port", "publicLog", "limits", "ledger"])
    }

    @Test(arguments: [
        ("", "entitle.json"), ("[]", "entitle.json"), (#"{"port":8792"#, "entitle.json"),
        (#"{"port":[8792]}"#, "entitle.json: port"), (#"{"port":null}"#, "entitle.json: port"),
        (#"{"limits":{"keys":1}}"#, "entitle.json: limits"),
    ])
    func `of another form is refused, with the place`(_ text: String, _ place: String) {
        #expect {
            _ = try Self.file(text)
        } throws: { error in
            let fault = error as? OperationFault
            return fault?.code == .configuration && fault?.place == place
        }
    }

    @Test(arguments: [("prt", "did you mean port?"), ("Host", "did you mean host?")])
    func `that sets what there is not is refused, with a near name`(
        _ name: String,
        _ hint: String
    ) throws {
        let file = try Self.file(#"{"\#(name)":"1","host":"::1"}"#)
        #expect {
            try file.requireKnown(["host", "port"])
        } throws: { error in
            let fault = error as? OperationFault
            return fault?.place == "entitle.json: " + name && fault?.hint == hint
        }
    }
}
