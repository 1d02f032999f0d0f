import Encodings
import Entitlements
import Foundation
import LMDBStorage
import Testing

/// A number of a format that is not known is refused, whichever side of it the program is on (E5).
struct `A format` {
    @Test(arguments: [-1, 0, 3, 99, Int.min, Int.max])
    func `of a ledger is one that is known`(_ number: Int) throws {
        func bytes(_ number: Int) -> [UInt8] {
            Array(
                """
                {"created":"2026-01-01T00:00:00Z","format":\(number),"ledger":"00","origin":"o",\
                "publicKey":"k"}
                """.utf8
            )
        }
        let fault = #expect(throws: LedgerOpenFault.self) {
            try LedgerDirectory.manifest(reading: bytes(number))
        }
        #expect(fault?.code == (number < LedgerDirectory.formatVersion ? .foreign : .newer))
        #expect(fault?.message.contains("\(number)") == true)
        // The control
        for number in 1...LedgerDirectory.formatVersion {
            let known = try LedgerDirectory.manifest(reading: bytes(number))
            #expect(known.origin == "o" && known.format == number)
        }
    }

    @Test(arguments: ["", "{}", "[]", "no", #"{"format":1}"#, #"{"format":"1"}"#])
    func `stands in a ledger.json or it is none`(_ text: String) {
        let fault = #expect(throws: LedgerOpenFault.self) {
            try LedgerDirectory.manifest(reading: Array(text.utf8))
        }
        #expect(fault?.code == .foreign)
    }

    @Test(
        .enabled(if: EntitleCommand.isPresent, EntitleCommand.absence),
        arguments: [
            ("-1", "not_a_ledger"), ("0", "not_a_ledger"), ("2", "newer_format"),
            ("\"1\"", "not_a_ledger"),
        ]
    )
    func `of a backup is too`(_ number: String, _ code: String) async throws {
        try await CommandLedger.with { ledger in
            let place = ledger.folder + "/backup"
            #expect(try await ledger.run(["backup", place]).code == 0)
            let file = URL(filePath: place + "/manifest.json")
            let text = try String(contentsOf: file, encoding: .utf8)
            let other = text.replacingOccurrences(of: "\"format\":1", with: "\"format\":\(number)")
            #expect(other != text)
            try Data(other.utf8).write(to: file)
            let restored = try await ledger.run([
                "restore", place, "--into", ledger.folder + "/new",
            ])
            #expect(restored.code == 65 && restored.problemCode == code, "\(restored)")
            let again = try await ledger.run(["backup", place])
            #expect(again.code == 65 && again.problemCode == code, "\(again)")
            #expect(try String(contentsOf: file, encoding: .utf8) == other)
        }
    }
}
