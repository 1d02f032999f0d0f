import Encodings
import Entitlements
import HTTPTypes
import LedgerAPI
import Presentation

/// A timeline for people who look at it (row Z1).
extension RouteTable {
    static let drawingReply = Route.Reply(
        status: 200,
        text: "The timeline as a drawing",
        shape: .text,
        mediaType: svgMediaType
    )

    private static let svgMediaType = "image/svg+xml"

    /// The drawing of a timeline: as fresh as its answer, with a tag of its own.
    static func drawn(
        _ timeline: TimelineAnswer,
        _ answer: Answer,
        _ service: LedgerService
    ) async throws -> Answer {
        let svg = try await service.blocking { TimelineChart(timeline).svg }
        var drawn = Answer(text: svg, mediaType: svgMediaType)
        drawn.headers = answer.headers
        if case .until(let instant, let digest) = answer.caching {
            drawn.caching = .until(instant, digest: digest + "-svg")
        }
        return drawn
    }
}

extension Call {
    /// Whether a drawing is rather taken than JSON (RFC 9110, section 12.5.1).
    var prefersSVG: Bool {
        guard let header = headers[.accept] else { return false }
        let drawing = Self.weight(of: ["image/svg+xml", "image/*", "*/*"], in: header)
        return drawing > Self.weight(of: ["application/json", "application/*", "*/*"], in: header)
    }

    /// The media type that is rather taken than others; of equals the first.
    func preferred<Media: RawRepresentable<String>>(_ media: [Media]) -> Media {
        func weight(_ media: Media) -> Int {
            guard let header = headers[.accept] else { return 0 }
            let kind = media.rawValue.prefix { $0 != "/" }
            return Self.weight(of: [media.rawValue, "\(kind)/*", "*/*"], in: header)
        }
        return media.dropFirst().reduce(media[0]) { weight($1) > weight($0) ? $1 : $0 }
    }

    /// Bytes of an `Accept` that are looked at.
    private static let acceptByteLimit = 1024

    /// The weight, in thousandths, of the first of some ranges that a header names; 0: of none.
    private static func weight(of ranges: [String], in header: String) -> Int {
        let elements = String(decoding: header.utf8.prefix(acceptByteLimit), as: UTF8.self)
            .lowercased().filter { $0 != " " && $0 != "\t" }.split(separator: ",")
        for range in ranges {
            for element in elements {
                let parts = element.split(separator: ";")
                guard let name = parts.first, name == range else { continue }
                let weight = parts.dropFirst().first { $0.hasPrefix("q=") }
                return weight.map { Self.thousandths($0.dropFirst(2)) } ?? 1000
            }
        }
        return 0
    }

    /// Reads `0.812`; 0 for what is no weight.
    private static func thousandths(_ text: Substring) -> Int {
        let digits = text.filter { $0 != "." }
        guard (1...4).contains(digits.count), text.hasPrefix("0") || text.hasPrefix("1"),
            let number = Int(digits), number >= 0
        else { return 0 }
        // Fits: four digits.
        return min(1000, (digits.count..<4).reduce(number) { number, _ in number * 10 })
    }
}
