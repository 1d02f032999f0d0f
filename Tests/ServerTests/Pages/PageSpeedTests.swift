import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import Presentation
import Testing

@testable import LedgerServer

/// How fast and how small a customer's page is.
struct `A customer's page of fifty events` {
    /// Bytes with the stylesheet.
    private static let byteLimit = 60_000
    /// Of an optimized server on a quiet machine; a debug build where everything runs at once has more.
    private static let limit = Duration.milliseconds(15)
    private static let leeway = 400

    @Test func `is made in a moment, and is small`() async throws {
        try await TestServer.with { server in
            // Every eighth is learned of late, as where a store's messages were lost for some days.
            try Self.record(server, renewals: 48) { $0 % 8 == 7 ? 2 * 86_400 : 60 }
            let visitor = try PageVisitor(server, with: .support)
            var (durations, size) = ([Duration](), 0)
            for _ in 0..<9 {
                let begun = ContinuousClock.now
                let answer = try await visitor.get("/console/customers/anna")
                durations.append(begun.duration(to: .now))
                #expect(answer.status == 200)
                size = answer.bytes.count
            }
            let median = durations.sorted()[durations.count / 2]
            let whole = size + PageAsset.stylesheet.bytes.count
            print("a customer's page of 50 events: p50 \(median)")
            print("its bytes: \(size), \(whole) with the stylesheet")
            #expect(whole <= Self.byteLimit)
            #expect(median <= Self.limit * Self.leeway)
        }
    }

    // The largest that fifty events make: each stands with both its times and what it changed.
    @Test(arguments: Language.allCases)
    func `is small where each of them was learned of late`(language: Language) async throws {
        try await TestServer.with { server in
            try Self.record(server, renewals: 49) { _ in 2 * 86_400 }
            let visitor = try PageVisitor(server, with: .support)
            let answer = try await visitor.get(
                "/console/customers/anna",
                headers: [.acceptLanguage: language.rawValue]
            )
            #expect(answer.body.contains(#"<html lang="\#(language.rawValue)">"#))
            let page = try PageText(answer.body)
            #expect(page.links.filter { $0.contains("event=") }.count == 50)
            let whole = answer.bytes.count + PageAsset.stylesheet.bytes.count
            print(
                "the bytes of 50 late events, \(language): \(answer.bytes.count), \(whole) in all"
            )
            #expect(whole <= Self.byteLimit)
        }
    }

    /// Records a purchase of anna's that renews each month, verified and claimed.
    ///
    /// `delay`: seconds after which a month, and at last the verdict, is learned of.
    private static func record(
        _ server: TestServer,
        renewals count: Int,
        learned delay: (Int) -> Int64
    ) throws {
        let month: Int64 = 30 * 86_400
        server.clock.now = noon.plus(seconds: -Int64(count + 1) * month)
        try server.publishCatalog()
        let product = `The page of a customer`.product
        // It is learned of at noon.
        let last = noon.plus(seconds: -delay(count - 1))
        for number in 0..<count {
            let start = last.plus(seconds: Int64(number + 1 - count) * month)
            server.clock.now = start.plus(seconds: delay(number))
            try `The page of a customer`.record(
                server,
                "p\(number)",
                number == 0 ? .purchaseCompleted : .purchaseRenewed,
                at: start,
                [
                    .transactionID: .text("t\(number)"), .productID: .text(product),
                    .productKind: .text("auto_renewable"),
                    .expiresAt: .instant(start.plus(seconds: month)),
                    .priceMicros: .integer(4_990_000), .currencyCode: .text("EUR"),
                ]
            )
        }
        server.clock.now = noon
        try `The page of a customer`.record(
            server,
            "v",
            .verificationPassed,
            at: last,
            [.method: .text("manual")]
        )
        try `The page of a customer`.claim(server, for: "anna")
    }
}
