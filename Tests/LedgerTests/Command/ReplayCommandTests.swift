import Encodings
import Entitlements
import Foundation
import Testing

/// How the command replays for an auditor.
@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `The command replays` {
    // rows 7.3, 7.4: signatures, as of when they were made
    @Test func `evidence, and finds what nobody trusted has signed`() async throws {
        try await CommandLedger.with { ledger in
            let authorities = try await ["one", "two"].asyncMap { name in
                let file = ledger.folder + "/\(name).pem"
                let root = ledger.folder + "/\(name)-root.pem"
                let made = try await EntitleCommand.run([
                    "simulate", "authority", file, "--root", root,
                ])
                #expect(made.code == 0, "\(made.errors)")
                return file
            }
            func stores(_ name: String) throws -> String {
                try ledger.file(
                    "stores-\(name).json",
                    #"{"appStore":{"bundleIds":["com.example.app"],"appAppleId":1234567890,"#
                        + #""roots":["\#(name)-root.pem"]}}"#
                )
            }
            let signed = try await EntitleCommand.run([
                "simulate", "trigger", "SUBSCRIBED/INITIAL_BUY", "--authority", authorities[0],
            ])
            let trusted = try stores("one")
            let imported = try await ledger.run(
                ["import", "-", "--stores", trusted],
                input: signed.output
            )
            #expect(imported.code == 0, "\(imported.errors)\(imported.output)")
            let replay = ["replay", "--known", "now"]
            let held = try await ledger.run(replay + ["--stores", trusted])
            #expect(held.code == 0, "\(held.output)\(held.errors)")
            #expect(held.json?["evidence"]?["verified"]?.integer == 1)
            // The control
            let other = try await ledger.run(replay + ["--stores", stores("two")])
            #expect(other.code == 3 && other.json?["ok"]?.bool == false)
            #expect(other.json?["evidence"]?["refused"]?.integer == 1)
            let nobody = try await ledger.run(replay)
            #expect(nobody.code == 0 && nobody.json?["evidence"]?["unchecked"]?.integer == 1)
        }
    }

    // row Z11
    @Test func `tokens of answers, and finds one that says otherwise`() async throws {
        try await CommandLedger.with { ledger in
            try ledger.record(Sample.ownedPurchase("ann", "app_store/1"))
            let answer = try await ledger.show("ann", ["--at", "2026-01-10"])
            try ledger.record([
                Sample.line("refund", "revocation.refunded", "purchase/app_store/1")
            ])
            let token = try #require(answer["token"]?.string)
            let given = try ledger.file("tokens", "\(answer)\n\n\(token)\n")
            let replay = ["replay", "--known-sequence", "4", "--at", "2026-01-10", "--tokens"]
            let same = try await ledger.run(replay + [given])
            #expect(same.code == 0, "\(same.output)")
            #expect(same.json?["tokens"]?["same"]?.integer == 2)
            #expect(same.json?["events"]?.integer == 4)
            // The control: another last letter is another digest.
            let last = token.last == "A" ? "E" : "A"
            let planted = try ledger.file(
                "planted",
                token.dropLast(2) + last + "\(token.suffix(1))\n"
            )
            let differs = try await ledger.run(replay + [planted])
            #expect(differs.code == 3)
            #expect(differs.json?["tokens"]?["differs"]?.integer == 1)
        }
    }
}

extension Sequence {
    fileprivate func asyncMap<Result>(
        _ body: (Element) async throws -> Result
    ) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await body(element)) }
        return results
    }
}
