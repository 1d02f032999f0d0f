import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import LedgerAPI
import LedgerOperations
import Stores
import Testing

struct `A look at the stores` {
    private static let now = SystemClock.now()

    private static func codes(_ body: (inout Checkup) throws -> Void) rethrows -> [Finding.Code] {
        var checkup = Checkup(ofLedgerAt: "/ledger", Settings(), Machine(), at: now)
        try body(&checkup)
        return checkup.answer.findings.map(\.code)
    }

    private static func configured(_ text: String) throws -> StoresConfiguration {
        try StoresConfiguration(parsing: Array(text.utf8)) { _ in
            Array("sixteen-bytes-at-least".utf8)
        }
    }

    @Test(
        arguments: [
            (#"{"revenueCat":{"authorizationFile":"a"}}"#, []),
            (#"{"revenueCat":{"hmacSecretFile":"a"}}"#, []),
            (#"{"revenueCat":{"apiKeyFile":"a"}}"#, [.storeUnauthenticated]),
            (#"{"appStore":{"bundleIds":["a"],"environments":["sandbox"]}}"#, [.storeUnasked]),
            (#"{"playStore":{"packageNames":["a"]}}"#, [.storeUnasked, .storeUnauthenticated]),
            (
                """
                {"playStore":{"packageNames":["a"],"pushAudience":"https://a.example",\
                "pushServiceAccount":"a@b.example"}}
                """, [.storeUnasked]
            ),
        ] as [(String, [Finding.Code])]
    )
    func `finds one that is half configured`(_ text: String, _ codes: [Finding.Code]) throws {
        let stores = try Self.configured(text)
        #expect(Self.codes { $0.lookAtStores(stores) } == codes)
    }

    @Test func `finds none, and roots that are another's`() throws {
        #expect(Self.codes { $0.lookAtStores(nil) } == [.storesMissing])
        var stores = StoresConfiguration()
        stores.appStore = AppStoreConfiguration(bundleIDs: ["a"], roots: [[1, 2, 3]])
        #expect(Self.codes { $0.lookAtStores(stores) } == [.rootsForeign, .storeUnasked])
        stores.appStore?.environments = [.sandbox]
        #expect(Self.codes { $0.lookAtStores(stores) } == [.storeUnasked])
    }

    private static func source(
        _ events: Int,
        daysAgo: Int64,
        _ gaps: [StatusAnswer.Completeness.Gap] = []
    ) -> [Keyed<StatusAnswer.Completeness>] {
        [
            Keyed(
                Source.revenueCat,
                StatusAnswer.Completeness(
                    events: events,
                    lastRecordedAt: now.advanced(
                        byMilliseconds: -daysAgo * Instant.millisecondsPerDay
                    ),
                    through: nil,
                    lastRefusedAt: now,
                    gaps: gaps
                )
            )
        ]
    }

    @Test func `finds what did not come`() throws {
        let stores = try Self.configured(#"{"revenueCat":{"authorizationFile":"a"}}"#)
        func codes(
            _ source: [Keyed<StatusAnswer.Completeness>],
            _ stores: StoresConfiguration?
        ) -> [Finding.Code] { Self.codes { $0.lookAtSignals(source, stores) } }
        #expect(codes(Self.source(1000, daysAgo: 1), stores) == [])
        #expect(codes(Self.source(10, daysAgo: 9), stores) == [], "few come")
        #expect(codes(Self.source(1000, daysAgo: 9), nil) == [], "nobody listens to it")
        #expect(codes(Self.source(1000, daysAgo: 9), stores) == [.storeSilent])
        let gaps = Self.source(1, daysAgo: 0, [.neverAsked, .refused])
        #expect(codes(gaps, stores) == [.neverAsked, .signalsRefused])
    }

    // Z12: a backfill would ask the App Store and Google Play, and RevenueCat nothing.
    @Test func `says how to ask each store`() throws {
        func findings(_ store: String, _ gap: StatusAnswer.Completeness.Gap) -> [Finding] {
            var checkup = Checkup(ofLedgerAt: "/ledger", Settings(), Machine(), at: Self.now)
            let known = Self.source(1, daysAgo: 0, [gap])[0].value
            checkup.lookAtSignals([Keyed(store, known)], nil)
            return checkup.answer.findings
        }
        let alone = findings(Source.revenueCat, .cannotBeAsked)
        #expect(alone.map(\.code) == [.cannotBeAsked] && alone.map(\.severity) == [.note])
        let refused = Source.stores.map { findings($0, .refused).first?.remedy ?? "" }
        #expect(refused.map { $0.hasSuffix("`entitle sync --backfill`") } == [true, true, false])
        for remedy in [alone.first?.remedy, refused.last] {
            #expect(try #require(remedy).contains("`entitle sync CUSTOMER`, or import its export"))
        }
    }

    @Test func `finds jobs that fail or hang`() throws {
        func job(_ result: String, nextHoursAgo hours: Int64) throws -> JobStatus {
            let next = Self.now.advanced(byMilliseconds: -hours * 3_600_000)
            let text = """
                {"name":"drift","lastRunAt":"\(Self.now)","result":"\(result)","lastDoneAt":null,\
                "nextRunAt":"\(next)"}
                """
            return try JobStatus.fields.read(JSONValue(parsing: Array(text.utf8)))
        }
        let (good, bad) = (try job("done", nextHoursAgo: -1), try job("failed", nextHoursAgo: 7))
        #expect(Self.codes { $0.lookAtJobs([good]) } == [])
        #expect(Self.codes { $0.lookAtJobs([bad]) } == [.jobFailed, .jobLate])
    }

    @Test func `finds what webhooks did not take`() {
        var webhook = Webhook(
            id: "wh_1",
            url: "https://a.example",
            types: ["*"],
            environments: [.production],
            tellsCatalogChanges: false,
            mayBePrivate: false,
            createdAt: Self.now
        )
        (webhook.dead, webhook.waiting) = (0, 0)
        #expect(Self.codes { $0.lookAtWebhooks([webhook]) } == [])
        (webhook.dead, webhook.waiting, webhook.disabledBecause) = (1, 2, .gone)
        #expect(
            Self.codes { $0.lookAtWebhooks([webhook]) }
                == [.deliveriesDead, .webhookGone, .deliveriesWaiting]
        )
    }

    /// Each code stands in a test of the doctor, there to be seen.
    @Test func `has a test for each finding`() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let files = [
            "LedgerOperationsTests/Doctor/CheckupTests.swift",
            "LedgerOperationsTests/Doctor/StoreCheckupTests.swift",
            "ServerTests/Doctor/SettingsCheckupTests.swift",
            "LedgerTests/Check/DoctorTests.swift",
        ]
        let text = try files.map {
            try String(contentsOf: tests.appending(path: $0), encoding: .utf8)
        }
        .joined()
        let untested = Finding.Code.allCases.filter { !text.contains(".\($0)") }
        #expect(untested == [])
    }
}
