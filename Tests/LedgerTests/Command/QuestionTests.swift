import Encodings
import Entitlements
import Foundation
import Testing

@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `The command answers` {
    private static let showKeys = [
        "customer", "environment", "at", "known", "sequence", "tier", "validUntil", "features",
        "purchases", "grants", "trials", "warnings", "token",
    ]

    // Interfaces, "Shapes": members are always present, in order; byte-identical
    @Test func `show with every key in its order, whoever is asked for`() async throws {
        try await CommandLedger.with { ledger in
            try ledger.record(Sample.ownedPurchase("ann", "app_store/1"))
            for (customer, environment) in [
                ("ann", "production"), ("nobody", "production"), ("ann", "sandbox"),
            ] {
                let more = ["--at", "2026-01-10", "--environment", environment]
                let show = try await ledger.show(customer, more)
                #expect(show.members?.map(\.name) == Self.showKeys)
                #expect(show["customer"]?.string == customer)
                #expect(show["environment"]?.string == environment)
                #expect(show["at"]?.string == "2026-01-10T00:00:00.000Z")
                #expect(show["known"]?.isNull == true)
                #expect(show["token"]?.string?.isEmpty == false)
                let features = show["features"]?.members ?? []
                #expect(features.map(\.name) == ["export", "scan"])
                for feature in features {
                    #expect(
                        feature.value.members?.map(\.name)
                            == [
                                "allowed", "usable", "refusal", "until", "reason", "sources",
                                "limit",
                            ]
                    )
                }
                #expect(try await ledger.show(customer, more) == show)
            }
            let purchase = try await ledger.show("ann", ["--at", "2026-01-10"])["purchases"]?.array?
                .first
            #expect(
                purchase?.members?.map(\.name) == [
                    "purchase", "productId", "productKind", "status", "expiresAt", "isVerified",
                    "isSynced", "syncedAt", "willRenew", "nextProductId",
                ]
            )
            #expect(purchase?["status"]?.string == "active")
        }
    }

    // Row 10.4: of a report that has no stages nothing is asked of them, and a flag counts first.
    @Test(arguments: [
        (["stages"], 78), (["stages", "--thresholds", "2000"], 0), (["customers"], 0),
    ])
    func `reports by the thresholds that are set where they have stages alone`(
        _ words: [String],
        _ code: Int
    ) async throws {
        try await CommandLedger.with { ledger in
            let malformed = ["ENTITLE_STAGE_THRESHOLDS": "soon"]
            let report = try await ledger.run(["report"] + words, environment: malformed)
            #expect(Int(report.code) == code, "\(report)")
        }
    }

    // T1, T4: forms of INSTANT
    @Test func `at and as known at instants of every form`() async throws {
        try await CommandLedger.with { ledger in
            try ledger.record(Sample.ownedPurchase("ann", "app_store/1"))
            func at(_ text: String) async throws -> String? {
                try await ledger.show("ann", ["--at", text])["at"]?.string
            }
            #expect(try await at("2026-01-10") == "2026-01-10T00:00:00.000Z")
            #expect(try await at("2026-01-10T01:30:00.5+01:30") == "2026-01-10T00:00:00.500Z")
            #expect(try await at("2026-01-10t00:00:00z") == "2026-01-10T00:00:00.000Z")
            for (text, offset) in [("now", 0.0), ("-36h", -129_600), ("-30d", -2_592_000)] {
                let before = Date().timeIntervalSince1970
                let shown = try #require(Instant(rfc3339: try await at(text) ?? ""))
                let after = Date().timeIntervalSince1970
                let seconds = Double(shown.milliseconds) / 1000 - offset
                #expect(seconds >= before - 0.01 && seconds <= after + 0.01, "\(text)")
            }
            // Nothing was known before the ledger was; everything is known now.
            let early = try await ledger.show(
                "ann",
                ["--at", "2026-01-10", "--known", "2020-01-01"]
            )
            #expect(early["sequence"]?.integer == 0)
            #expect(early["known"]?.string == "2020-01-01T00:00:00.000Z")
            #expect(
                early["warnings"]?.description
                    == #"[{"code":"no_catalog"},{"code":"never_seen"}]"#
            )
            let now = try await ledger.show("ann", ["--at", "2026-01-10", "--known", "now"])
            #expect(now["sequence"]?.integer == 4)
            #expect(now["tier"]?.string == "pro")
            let yesterday = try await ledger.show("ann", ["--at", "2026-01-10", "--known", "-1d"])
            #expect(yesterday["sequence"]?.integer == 0)
            let two = try await ledger.show("ann", ["--at", "2026-01-10", "--known-sequence", "2"])
            #expect(two["sequence"]?.integer == 2)
            #expect(two["purchases"]?.array?.count == 0)
            let beyond = try await ledger.run(["show", "ann", "--known-sequence", "5"])
            #expect(beyond.code == 65)
            #expect(beyond.problemCode == "unknown_sequence")
        }
    }

    // row 4.3, row 4.4; exit 0 and 1
    @Test func `can with its exit code`() async throws {
        try await CommandLedger.with { ledger in
            try ledger.record(Sample.ownedPurchase("ann", "app_store/1"))
            let rows: [(customer: String, feature: String, at: String, code: Int32)] = [
                ("ann", "export", "2026-01-10", 0), ("ann", "export", "2026-02-01", 1),
                ("ann", "scan", "2026-02-01", 0), ("bob", "export", "2026-01-10", 1),
                ("bob", "scan", "2026-01-10", 0),
            ]
            for row in rows {
                let outcome = try await ledger.run([
                    "can", row.customer, row.feature, "--at", row.at,
                ])
                #expect(outcome.code == row.code, "\(row)")
                #expect(outcome.json?["allowed"]?.bool == (row.code == 0), "\(row)")
                #expect(outcome.errors.isEmpty, "\(row): \(outcome.errors)")
            }
        }
    }

    // row 4.4; a feature that no catalog lists is a mistake of whoever asks
    @Test func `can with what to buy, and with near names for an unknown feature`() async throws {
        try await CommandLedger.with { ledger in
            let closed = try await ledger.run(["can", "ann", "export"])
            #expect(closed.code == 1)
            #expect(
                closed.json?["requiredProducts"] == .strings(["pro.month", "pro.life"]),
                "\(closed.output)"
            )
            let unknown = try await ledger.run(["can", "ann", "exprot"])
            #expect(unknown.code == 64)
            #expect(unknown.problemCode == "unknown_feature")
            #expect(unknown.errors.contains("did you mean export?"), "\(unknown.errors)")
            #expect(unknown.output.isEmpty)
            // Nor where there was no catalog yet, nor one without a name, whoever is asked.
            let early = try await ledger.run(["can", "ann", "export", "--known-sequence", "0"])
            #expect(early.code == 64 && early.problemCode == "unknown_feature", "\(early)")
            for command in ["can", "explain"] {
                let nameless = try await ledger.run([
                    command, "ann", "", "--server", "http://127.0.0.1:1",
                ])
                #expect(nameless.code == 64 && nameless.problemCode == "unknown_feature")
            }
            // Nor can it be used; what is near it the refusal says.
            let unused = try await ledger.run(["use", "ann", "exprot"])
            #expect(unused.code == 64 && unused.problemCode == "unknown_feature", "\(unused)")
            #expect(unused.errors.contains("near it: export"), "\(unused.errors)")
            // Somebody unknown is no mistake.
            let stranger = try await ledger.run(["show", "nobody-yet"])
            #expect(stranger.code == 0)
            #expect(stranger.json?["purchases"] == .array([]))
        }
    }

    // row Z11
    @Test func `show again by a decision token, byte for byte`() async throws {
        try await CommandLedger.with { ledger in
            try ledger.record(Sample.ownedPurchase("ann", "app_store/1"))
            for arguments in [["show", "ann"], ["can", "ann", "export"], ["timeline", "ann"]] {
                let first = try await ledger.run(arguments + ["--at", "2026-01-10"])
                _ = try await ledger.run(["grant", "ann", "--feature", "export"])
                let token = try #require(first.json?["token"]?.string)
                let again = try await ledger.run(["show", "--token", token])
                #expect(again.code == 0, "\(again.errors)")
                #expect(again.output == first.output)
                // The control: somebody else's name, and no token at all.
                let other = try await ledger.run(["show", "bob", "--token", token])
                #expect(other.code == 2)
                #expect(other.problemCode == "other_customer")
            }
            let none = try await ledger.run(["show", "--token", "x"])
            #expect(none.code == 65)
            #expect(none.problemCode == "invalid_token")
        }
    }

    // rows 4.1, B6, CL6
    @Test func `catalog gates as a map that an app can hold`() async throws {
        try await CommandLedger.with { ledger in
            let gates = try await ledger.run(["catalog", "gates"])
            let map = try GateMap(json: try #require(gates.json))
            #expect(map.isOpen("scan", to: []) && !map.isOpen("export", to: []))
            #expect(map.isOpen("export", to: ["pro.month"]))
            let unknown = try await ledger.run(["catalog", "gates", "--level", "gold"])
            #expect(unknown.code == 64)
        }
    }

    // C1, A purchase exists once any event names it, a claim included
    @Test func `a claim of an unknown purchase with a warning`() async throws {
        try await CommandLedger.with { ledger in
            let claim = try await ledger.run(["claim", "ann", "app_store/9", "--id", "c1"])
            #expect(claim.code == 0, "\(claim.errors)")
            #expect(claim.json?["outcome"]?.string == "appended")
            #expect(claim.json?["purchaseKnown"]?.bool == false)
            #expect(claim.errors.contains("warning"))
            let show = try await ledger.show("ann")
            #expect(show["purchases"]?.array?.first?["purchase"]?.string == "app_store/9")
            #expect(show["purchases"]?.array?.first?["status"]?.string == "none")
            let again = try await ledger.run(["claim", "ann", "app_store/9", "--id", "c1"])
            #expect(again.json?["outcome"]?.string == "duplicate")
            let other = try await ledger.run(["claim", "bob", "app_store/9", "--id", "c2"])
            #expect(other.code == 4)
            #expect(other.problemCode == "claimed_by_another")
        }
    }

    // E1; a grant's id is the request's where none is given, as over HTTP
    @Test func `a grant that is repeated by its id with what stands`() async throws {
        try await CommandLedger.with { ledger in
            let grant = ["grant", "ann", "--tier", "pro", "--id", "g1"]
            for expected in ["appended", "duplicate"] {
                let given = try await ledger.run(grant)
                #expect(given.code == 0 && given.json?["outcome"]?.string == expected, "\(given)")
                #expect(given.json?["grantId"]?.string == "g1")
            }
            // The control: each request without an id is another grant.
            let ids = [
                try await ledger.run(["grant", "ann", "--tier", "pro"]).json?["grantId"],
                try await ledger.run(["grant", "ann", "--tier", "pro"]).json?["grantId"],
            ]
            #expect(ids[0] != ids[1])
        }
    }

    // row B2
    @Test func `use with exit 1 over the limit`() async throws {
        try await CommandLedger.with { ledger in
            for count in 1...4 {
                let outcome = try await ledger.run([
                    "use", "ann", "scan", "--amount", "5", "--id", "u\(count)",
                ])
                #expect(outcome.code == (count <= 3 ? 0 : 1), "\(count): \(outcome.errors)")
                if count == 4 { #expect(outcome.problemCode == "over_limit") }
            }
            // C5: what is taken back counts no more, once.
            for (undo, expected) in [("u2", "appended"), ("u2", "known")] {
                let outcome = try await ledger.run(["use", "ann", "--undo", undo])
                #expect(outcome.json?["outcome"]?.string == expected, "\(outcome.errors)")
            }
            let unknown = try await ledger.run(["use", "ann", "--undo", "u9"])
            #expect(unknown.code == 4)
            #expect(unknown.problemCode == "unknown_use")
            let again = try await ledger.run(["use", "ann", "scan", "--amount", "5"])
            #expect(again.code == 0)
            #expect(again.json?["limit"]?["remaining"]?.integer == 0)
            #expect(again.json?["endsAt"]?.string != nil)
        }
    }

    // The result alone on standard output
    @Test func `with nothing but the result on standard output`() async throws {
        try await CommandLedger.with { ledger in
            let events = try await ledger.importing(Sample.ownedPurchase("ann", "app_store/1"))
            #expect(events.output.split(separator: "\n").count == 1)
            let listed = try await ledger.run(["events"])
            #expect(listed.lines.count == 4)
            #expect(listed.output.split(separator: "\n").count == 4)
            for arguments in [
                ["audit"], ["replay"], ["rebuild"], ["status"], ["checkpoint"],
                ["timeline", "ann"],
            ] {
                let outcome = try await ledger.run(arguments)
                #expect(outcome.code == 0, "\(arguments): \(outcome.errors)")
                #expect(outcome.json != nil, "\(arguments)")
                #expect(outcome.output.split(separator: "\n").count == 1, "\(arguments)")
                #expect(outcome.errors.isEmpty, "\(arguments): \(outcome.errors)")
            }
        }
    }

    @Test func `questions in their order, and stops at one that it cannot read`() async throws {
        try await CommandLedger.with { ledger in
            let questions = """
                {"customer":"ann","at":"2026-01-10"}

                {"customer":"bob","at":"2026-01-10T00:00:00Z","known":"2020-01-01","environment":"sandbox"}
                {"customer":"cy","knownSequence":1,"at":null}
                """
            let outcome = try await ledger.run(["show", "--questions", "-"], input: questions)
            #expect(outcome.code == 0, "\(outcome.errors)")
            #expect(outcome.lines.map { $0["customer"]?.string } == ["ann", "bob", "cy"])
            for bad in [
                "{}", "[]", "no", #"{"customer":""}"#, #"{"customer":"a","at":"soon"}"#,
                #"{"customer":"a","colour":1}"#, #"{"customer":"a","knownSequence":-1}"#,
                #"{"customer":"a","known":"now","knownSequence":1}"#,
            ] {
                let refused = try await ledger.run(["show", "--questions", "-"], input: bad)
                #expect(refused.code == 65, "\(bad): \(refused.errors)")
                #expect(refused.output.isEmpty, "\(bad)")
            }
            for (bad, why) in [
                (#"{"customer":"a","customer":"b"}"#, "repeated member name at byte"),
                ("\u{FEFF}{}", "expected a value at byte"), ("[]", "not a JSON object"),
            ] {
                let input = #"{"customer":"ann"}"# + "\n" + bad
                let refused = try await ledger.run(["show", "--questions", "-"], input: input)
                #expect(refused.problem?["title"]?.string?.hasPrefix(why) == true, "\(refused)")
                #expect(refused.problem?["detail"]?.string == "line 2", "\(refused)")
            }
            // Nor behind one that the log refuses.
            let beyond = #"{"customer":"ann"}"# + "\n" + #"{"customer":"b","knownSequence":99}"#
            let unknown = try await ledger.run(["show", "--questions", "-"], input: beyond)
            #expect(unknown.code == 65 && unknown.lines.count == 1, "\(unknown)")
            #expect(unknown.problemCode == "unknown_sequence")
            #expect(unknown.problem?["detail"]?.string == "line 2", "\(unknown)")
        }
    }
}
