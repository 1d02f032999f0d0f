import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import Presentation
import Testing

@testable import LedgerServer

/// How small a customer's page is.
struct `A customer's page of fifty events` {
    /// Bytes with the stylesheet.
    private static let byteLimit = 60_000

    // The largest that fifty events make: each stands with both its times and what it changed.
    @Test(arguments: Language.allCases)
    func `is small where each of them was learned of late`(language: Language) async throws {
        try await TestServer.with { server in
            try Self.record(server)
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

    /// Records a purchase of anna's that renews each month for 49 months, verified and claimed; each
    /// month, and at last the verdict, is learned of two days late.
    private static func record(_ server: TestServer) throws {
        let (count, month, delay): (Int, Int64, Int64) = (49, 30 * 86_400, 2 * 86_400)
        server.clock.now = noon.plus(seconds: -Int64(count + 1) * month)
        try server.publishCatalog()
        let product = `The page of a customer`.product
        // It is learned of at noon.
        let last = noon.plus(seconds: -delay)
        for number in 0..<count {
            let start = last.plus(seconds: Int64(number + 1 - count) * month)
            server.clock.now = start.plus(seconds: delay)
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
