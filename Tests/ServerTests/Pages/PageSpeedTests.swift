import EntitlementLedger
import Entitlements
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
            let month: Int64 = 30 * 86_400
            server.clock.now = noon.plus(seconds: -48 * month)
            try server.publishCatalog()
            let product = `The page of a customer`.product
            for number in 0..<48 {
                let start = noon.plus(seconds: (Int64(number) - 47) * month)
                // Every eighth is learned of late, as where a store's messages were lost for some days.
                let delay: Int64 = number % 8 == 7 ? 2 * 86_400 : 60
                server.clock.now = start.plus(seconds: number == 47 ? 0 : delay)
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
                at: noon,
                [.method: .text("manual")]
            )
            try `The page of a customer`.claim(server, for: "anna")
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
}
