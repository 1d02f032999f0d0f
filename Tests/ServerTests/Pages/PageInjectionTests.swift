import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import ModelSupport
import Presentation
import Testing

@testable import LedgerServer

/// Texts of others in pages: whatever they hold, they are text there (row 9.6).
struct `A page with texts of others` {
    /// Texts that would be markup, end an attribute, turn the direction, or combine with a sign before them.
    static let corpus: [String] = {
        let breakers = [
            "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>",
            "' onmouseover='alert(1)",
            "</title><script>alert(1)</script>", "javascript:alert(1)", "<!--", "-->", "]]>",
            "&lt;script&gt;", "&#60;script&#62;", "&amp;", "&", "<", ">", "\"", "'", "`", "\\",
            "%3Cscript%3E", "<svg/onload=alert(1)>", "{{7*7}}", "${alert(1)}", "../../etc",
            "a/b?c#d",
            "x.json", "x.csv", "&quot", "<a href=\"javascript:alert(1)\">", "<style>*{}</style>",
            "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}", "\u{FEFF}", "\u{FFFD}", "\u{FFFE}",
        ]
        // A mark that combines with the sign before it makes another character of it for Swift, and not for
        // a browser.
        let marks = [
            "\u{301}", "\u{20D2}", "\u{338}", "\u{200D}", "\u{FE0F}", "\u{3099}", "\u{1AB0}",
        ]
        let turners = ["\u{202E}", "\u{2066}", "\u{2069}", "\u{200F}", "\u{061C}", "\u{2028}"]
        let signs = ["<", ">", "\"", "'", "&"]
        let combined = signs.flatMap { sign in
            (marks + turners).flatMap { mark in
                [sign + mark, mark + sign, sign + mark + "script" + sign]
            }
        }
        return breakers + combined
    }()

    /// Every text of the corpus as the id of a customer, a grant, a purchase, a product and a feature.
    @Test func `is markup of ours alone`() async throws {
        #expect(Self.corpus.count >= 200)
        try await TestServer.with { server in
            try server.publishCatalog()
            let visitor = try PageVisitor(server, with: .support)
            var count = 0
            func look(_ path: String, _ text: String) async throws {
                let answer = try await visitor.get(path)
                #expect(answer.status == 200, "\(path): \(answer.body.prefix(300))")
                let page = try PageText(answer.body)
                let strange = Set(page.elements).subtracting(Self.known)
                #expect(strange.isEmpty, "\(path): \(strange)")
                #expect(!page.attributes.contains { $0.hasPrefix("on") }, "\(path)")
                #expect(!page.links.contains { $0.hasPrefix("javascript:") }, "\(path)")
                let shown = Self.shown(text)
                let all = page.texts + page.values
                #expect(
                    all.contains { $0.unicodeScalars.contains(shown) },
                    "\(path) does not show the text"
                )
                count += 1
            }
            for (place, text) in Self.corpus.enumerated() {
                try Self.record(server, text, place)
                let id = text.pathSegment
                try await look("/console/customers/\(id)?format=html", text)
                guard place % 8 == 0 else { continue }
                try await look("/console/customers/\(id)/diff?at=2025-01-01&toAt=now", text)
                try await look("/console/customers?q=\(id)zz", text + "zz")
            }
            try Self.publishCorpus(in: server)
            for text in Self.corpus.enumerated().filter({ $0.offset % 4 == 0 }).map(\.element) {
                let id = text.pathSegment
                try await look("/console/customers/\(id)/explain/\(id)?format=html", text)
            }
            // One page lists them all.
            let all = try await PageText(visitor.get("/console/customers/%3C").body)
            let listed = Set(all.texts.map { Array($0.utf8) })
            for text in Self.corpus {
                #expect(listed.contains(Array(String(Self.shown(text)).utf8)), "\(text)")
            }
            print("texts of others: \(Self.corpus.count) texts, \(count) pages, 0 breaks")
        }
    }

    /// A catalog whose features and products are called by the corpus.
    private static func publishCorpus(in server: TestServer) throws {
        let features = corpus.map { JSONValue.members(["id": .string($0)]) }
        let products = corpus.map {
            JSONValue.members([
                "id": .string("p" + $0), "kind": "auto_renewable",
                "unlocks": .members(["features": .array([.string($0)])]),
            ])
        }
        let catalog = JSONValue.members([
            "tiers": .strings(["free", "pro"]), "features": .array(features),
            "products": .array(products),
        ])
        _ = try server.ledger.appender.publish(
            catalog,
            effective: server.clock.now,
            EntitlementLedger.Request(id: "corpus", source: "catalog", environment: .production)
        )
    }

    /// Elements of our pages.
    private static let known: Set<String> = [
        "html", "head", "meta", "title", "link", "script", "body", "a", "header", "form", "label",
        "span", "nav", "ul", "li", "main", "h1", "h2", "p", "footer", "ol", "div", "details",
        "summary", "dl",
        "svg", "g", "rect", "path", "text", "line", "desc", "code", "strong", "time",
        "table", "thead", "tbody", "tr", "td", "th", "caption", "input", "section", "dt", "dd",
        "defs", "pattern", "circle", "polyline", "style", "button", "option", "select", "b",
        "small",
    ]

    /// What XML 1.0 cannot hold is shown as a sign of its own.
    private static func shown(_ text: String) -> String.UnicodeScalarView {
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isLost = scalar.value == 0xFFFE || scalar.value == 0xFFFF
            shown.append(isLost ? "\u{FFFD}" : scalar)
        }
        return shown
    }

    private static func record(_ server: TestServer, _ text: String, _ place: Int) throws {
        let customer = try #require(CustomerID(text))
        let request = EntitlementLedger.Request(
            id: "grant-\(place)",
            source: Source.support,
            environment: .production
        )
        _ = try server.ledger.appender.grant(
            text,
            to: customer,
            features: [text],
            tier: nil,
            expiresAt: nil,
            reason: text,
            request
        )
        let purchase = PurchaseName(store: "app_store", originalID: text + "-1")
        let period = EventData(
            .purchaseCompleted,
            [
                .transactionID: .text(text), .productID: .text("p" + text),
                .productKind: .text("auto_renewable"),
                .expiresAt: .instant(noon.plus(seconds: 86_400)),
            ]
        )
        let event = Event(
            id: "purchase-\(place)",
            source: Source.support,
            subject: .purchase(purchase),
            time: noon.plus(seconds: -86_400),
            data: period
        )
        _ = try server.ledger.appender.record(Submission(event: event))
        _ = try server.ledger.appender.claim(
            purchase,
            for: customer,
            EntitlementLedger.Request(
                id: "claim-\(place)",
                source: Source.app,
                environment: .production
            )
        )
    }

    // The control: a writer that looks for signs among characters misses those that a mark combines with.
    @Test func `is found where a writer leaves something as it is`() throws {
        func page(_ text: String, escaping escape: (String) -> String) -> String {
            "<!doctype html><html lang=\"en\"><p title=\"\(escape(text))\">\(escape(text))</p></html>"
        }
        func byCharacters(_ text: String) -> String {
            text.map { character in
                switch character {
                case "&": "&amp;"
                case "<": "&lt;"
                case ">": "&gt;"
                case "\"": "&quot;"
                case "'": "&#39;"
                default: String(character)
                }
            }
            .joined()
        }
        func byScalars(_ text: String) -> String {
            var xml = XMLText()
            xml.write(text)
            return xml.text
        }
        var found = (asItIs: 0, byCharacters: 0)
        for text in Self.corpus {
            if (try? PageText(page(text) { $0 })) == nil { found.asItIs += 1 }
            if (try? PageText(page(text, escaping: byCharacters))) == nil {
                found.byCharacters += 1
            }
            #expect((try? PageText(page(text, escaping: byScalars))) != nil, "\(text)")
        }
        #expect(found.asItIs > 150)
        #expect(found.byCharacters > 30)
    }
}

extension String.UnicodeScalarView {
    /// Whether some scalars stand in these, one behind the other.
    fileprivate func contains(_ other: String.UnicodeScalarView) -> Bool {
        let (all, part) = (Array(self), Array(other))
        guard part.count <= all.count else { return false }
        return (0...(all.count - part.count)).contains { start in
            all[start..<(start + part.count)].elementsEqual(part)
        }
    }
}
