import Encodings
import Entitlements
import Foundation
import LedgerAPI
import Presentation
import Testing

#if canImport(FoundationXML)
import FoundationXML
#endif

/// A timeline as a drawing.
struct `A drawn timeline` {
    /// What an XML parser met.
    private final class Reader: NSObject, XMLParserDelegate {
        var elements: [String: Int] = [:]
        var attributes: [String: String] = [:]
        var ids: [String] = []
        var text = ""
        var classes: Set<String> = []

        func parser(
            _: XMLParser,
            didStartElement name: String,
            namespaceURI _: String?,
            qualifiedName _: String?,
            attributes found: [String: String]
        ) {
            if elements.isEmpty { attributes = found }
            elements[name, default: 0] += 1
            if let id = found["id"] { ids.append(id) }
            classes.formUnion(found["class"]?.split(separator: " ").map(String.init) ?? [])
        }

        func parser(_: XMLParser, foundCharacters characters: String) { text += characters }
    }

    /// Reads a document; nil: it is not well-formed.
    private static func read(_ svg: String) -> Reader? {
        let parser = XMLParser(data: Data(svg.utf8))
        let reader = Reader()
        parser.delegate = reader
        return parser.parse() ? reader : nil
    }

    private static func answer(
        customer: String = "ann",
        feature: String = "export",
        purchase: String = "app_store/1",
        at: String = "2026-03-01T00:00:00.000Z"
    ) -> JSONValue {
        func stretch(_ value: JSONValue, _ from: String, _ to: JSONValue) -> JSONValue {
            .members(["value": value, "from": .string(from), "to": to])
        }
        let (january, february) = ("2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z")
        return .members([
            "customer": .string(customer), "environment": "production", "at": .string(at),
            "known": .string("2026-02-20T00:00:00.000Z"), "sequence": .integer(10),
            "tiers": .array([
                stretch("pro", january, .string(february)), stretch("free", february, .null),
            ]),
            "features": .object([
                JSONMember(
                    feature,
                    .array([
                        stretch("purchase", january, .string(february)),
                        stretch("none", february, .null),
                    ])
                )
            ]),
            "stretches": .array([
                .members([
                    "source": .string("grant/" + feature), "productId": .null,
                    "from": .string(february), "to": .null,
                ])
            ]),
            "statuses": .object([
                JSONMember(
                    purchase,
                    .array(
                        PurchaseStatus.allCases.map {
                            stretch(.string($0.rawValue), january, .null)
                        }
                    )
                )
            ]),
            "events": .array([
                event("purchase.completed", january, january),
                event("revocation.refunded", february, "2026-02-10T00:00:00.000Z", 8),
                // A repeat: as long after it held, and told before.
                event("purchase.completed", january, "2026-02-10T00:00:00.000Z", 9),
            ]),
            "late": .array([
                .members(["sequence": .integer(8), "seconds": .integer(777_600)])
            ]),
            "token": .null,
        ])
    }

    private static func chart(_ answer: JSONValue = answer()) throws -> TimelineChart {
        TimelineChart(try TimelineAnswer.fields.read(answer))
    }

    private static func event(
        _ type: String,
        _ time: String,
        _ recorded: String,
        _ sequence: Int = 7
    ) -> JSONValue {
        .members([
            "specversion": "1.0", "id": "e", "source": "support", "type": .string(type),
            "subject": "customer/ann", "time": .string(time), "environment": "production",
            "sequence": .string("0000000000000000000\(sequence)"),
            "recordedtime": .string(recorded),
            "data": .object([]),
        ])
    }

    private static let hostile = [
        "<script>alert(1)</script>", "]]><x", "a\"b'c&d", "&lt;&#0;", "\u{202E}gnp.exe",
        "\u{0}\u{1}",
        "</title><svg onload=\"x\">", "\u{FFFE}\u{FFFF}", "日本語 \u{1F600}",
        String(repeating: "é\u{301}", count: 600), "<!--", "<?xml?>", "\u{7F}\u{9F}",
    ]

    @Test(arguments: hostile)
    func `is well-formed, whatever things are called`(_ name: String) throws {
        let chart = try Self.chart(
            Self.answer(customer: name, feature: name, purchase: "app_store/" + name)
        )
        let reader = try #require(Self.read(chart.svg))
        let plain = try #require(Self.read(Self.chart().svg))
        // A name is text: it makes no element, and no attribute of one.
        #expect(reader.elements == plain.elements)
        #expect(reader.classes == plain.classes)
        #expect(reader.elements["script"] == nil && reader.elements["foreignObject"] == nil)
        // What XML cannot hold is replaced, all else is there as it was.
        if name.unicodeScalars.allSatisfy({ $0.value >= 32 && $0.value < 0xFFFE }) {
            #expect(reader.text.contains(name))
        }
    }

    // CONSOLE: a name, a description, patterns besides colours, both schemes.
    @Test func `tells who cannot see it what it shows`() throws {
        let chart = try Self.chart()
        let reader = try #require(Self.read(chart.svg))
        #expect(reader.attributes["role"] == "img")
        for name in ["aria-labelledby", "aria-describedby"] {
            let id = try #require(reader.attributes[name])
            #expect(reader.ids.contains(id))
        }
        #expect(Set(reader.ids).count == reader.ids.count)
        #expect(reader.text.contains("1 of them learned of late"))
        #expect(reader.text.contains("prefers-color-scheme: dark"))
        #expect(reader.elements["pattern"].map { $0 >= 4 } ?? false)
        #expect(reader.classes.isSuperset(of: ["active", "revoked", "grant", "late", "taken"]))
        for word in ["http:", "https:", "url(http", "@import", "href"] {
            let text = chart.svg.replacing("http://www.w3.org/2000/svg", with: "")
            #expect(!text.contains(word))
        }
    }

    @Test func `is the same for the same answer`() throws {
        #expect(try Self.chart().svg == Self.chart().svg)
        let other = try Self.chart(Self.answer(at: "2026-03-02T00:00:00.000Z")).svg
        #expect(try Self.chart().svg != other)
    }

    // Any instant may be asked for.
    @Test(arguments: [
        "0000-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z", "2200-01-01T00:00:00.000Z",
        "1970-01-01T00:00:00.000Z",
    ])
    func `is drawn at any instant`(_ at: String) throws {
        let chart = try Self.chart(Self.answer(at: at))
        #expect(Self.read(chart.svg) != nil)
        #expect(Set(chart.text(columns: 50).prefix(3).map(\.count)).count == 1)
    }

    @Test(arguments: [JSONValue.null, .object([]), .members(["events": .array([.null, "x"])])])
    func `is of a timeline alone`(_ answer: JSONValue) {
        #expect(throws: InputFault.self) { try Self.chart(answer) }
    }

    @Test func `has lanes and marks in text, too`() throws {
        let lines = try Self.chart().text(columns: 60)
        #expect(lines[0].hasPrefix("tier") && lines[0].contains("#"))
        #expect(lines[1].hasPrefix("export") && lines[1].contains("A"))
        #expect(lines.contains { $0.hasPrefix("events") && $0.contains("^") && $0.contains("x") })
        #expect(lines.contains { $0.hasPrefix("late") && $0.contains(">") })
        #expect(lines.contains { $0.contains("^ begins") })
        #expect(lines.allSatisfy { $0.count <= 60 }, "\(lines)")
    }

    // Ids of purchases differ at their ends.
    @Test func `shows both ends of a name that is too long`() throws {
        let name = "app_store/20000001234567890123456789"
        let lane = TimelineChart.Lane(label: name, bars: [])
        let at = Instant(milliseconds: 0)
        let chart = TimelineChart(title: "t", at: at, known: nil, lanes: [lane], marks: [])
        for text in [chart.text(columns: 80)[0], chart.svg] {
            #expect(text.contains("app_stor…567890123456789".suffix(10)), "\(text)")
            #expect(text.contains("app_stor…"), "\(text)")
        }
        #expect(chart.svg.contains(name), "the whole is its tip")
    }

    // T1, T3
    @Test(arguments: [
        ("2026-01-01T00:00:00.000Z", "2026-01-01T23:00:00.000Z", nil),
        ("2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z", nil),
        ("2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.001Z", 86_400_001),
        ("2026-01-05T00:00:00.000Z", "2026-01-01T00:00:00.000Z", nil),
    ])
    func `marks what was learned of late`(
        _ time: String,
        _ recorded: String,
        _ late: Int64?
    ) throws {
        let json = Self.event("purchase.renewed", time, recorded)
        let event = try ListedEvent.fields.read(json)
        #expect(event.late?.delayMilliseconds == late)
        // What is read is written again, byte for byte.
        #expect(AnswerText(event).description == json.description)
    }
}

/// Where instants are written under a drawing.
struct `A time axis` {
    @Test(arguments: [
        ("2026-01-01T00:00:00.000Z", "2026-01-01T00:10:00.000Z"),
        ("2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"),
        ("2026-01-01T00:00:00.000Z", "2026-01-20T00:00:00.000Z"),
        ("2026-01-31T00:00:00.000Z", "2026-06-20T00:00:00.000Z"),
        ("2024-02-29T00:00:00.000Z", "2031-02-01T00:00:00.000Z"),
        ("2000-01-01T00:00:00.000Z", "2199-02-01T00:00:00.000Z"),
    ])
    func `has some labels, and not too many`(_ from: String, _ to: String) throws {
        let (from, to) = (
            try #require(Instant(rfc3339: from)), try #require(Instant(rfc3339: to))
        )
        let mark = TimelineChart.Mark(
            kind: TimelineChart.MarkKind(type: "purchase.renewed"),
            type: "purchase.renewed",
            time: to,
            recordedAt: to,
            isLate: false
        )
        let chart = TimelineChart(title: "", at: from, known: nil, lanes: [], marks: [mark])
        // Each tick is one line of the axis.
        let axis = try #require(chart.svg.split(separator: "class=\"axis\"").last)
        let labels = try #require(axis.split(separator: "</g>").first).split(separator: "<text")
        #expect((2...9).contains(labels.count), "\(labels)")
    }
}
