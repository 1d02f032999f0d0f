import HTTPTypes
import LedgerAPI

/// Finds the route of a path.
///
/// Hummingbird's router neither decodes parameters nor tells a wrong method from a wrong path, and
/// both decide what is refused here.
struct RouteMatcher: Sendable {
    /// A route, with what is asked of it for each request.
    struct Target: Sendable {
        let route: Route
        let queryNames: [String]
        /// Its place in the metrics.
        let number: Int
    }

    private struct Entry: Sendable {
        var segments: [Segment]
        var targets: [Target]
    }

    private enum Segment: Sendable, Equatable {
        case literal([UInt8])
        case parameter(PathName)
    }

    /// Entries by their number of segments.
    private var entries: [[Entry]] = []

    /// Makes a matcher; a route's number is its place in the table.
    init(_ routes: [Route]) {
        for (number, route) in routes.enumerated() {
            let target = Target(route: route, queryNames: route.queryNames, number: number)
            var segments = Self.segments(of: route.template)
            add(target, at: segments)
            guard route.takesRest, let last = segments.last else { continue }
            for _ in 1..<Self.restLimit {
                segments.append(last)
                add(target, at: segments)
            }
        }
    }

    /// Segments that a parameter which takes the rest of a path may have.
    private static let restLimit = 6

    private mutating func add(_ target: Target, at segments: [Segment]) {
        while entries.count <= segments.count { entries.append([]) }
        let index = entries[segments.count].firstIndex { $0.segments == segments }
        if let index {
            entries[segments.count][index].targets.append(target)
        } else {
            entries[segments.count].append(Entry(segments: segments, targets: [target]))
        }
    }

    private static func segments(of template: String) -> [Segment] {
        template.split(separator: "/").map { segment in
            guard segment.hasPrefix("{") else { return .literal(Array(segment.utf8)) }
            let name = PathName(rawValue: String(segment.dropFirst().dropLast()))
            guard let name else { preconditionFailure("\(template) names what paths do not have") }
            return .parameter(name)
        }
    }

    /// What a path leads to.
    enum Match {
        case route(Target, PathValues)
        case otherMethods([HTTPRequest.Method])
        case nothing
    }

    /// Finds a path, as it was sent.
    ///
    /// `.` and `..` are nobody's name, encoded or not, so that no path means another one to a
    /// proxy before us.
    func match(_ method: HTTPRequest.Method, _ path: String) throws(Problem) -> Match {
        let bytes = Array(path.utf8)
        guard let parts = parts(of: bytes),
            let entry = entries[parts.count].first(where: { Self.fits($0.segments, bytes, parts) })
        else { return .nothing }
        var values = PathValues()
        for (segment, part) in zip(entry.segments, parts) {
            guard case .parameter(let name) = segment else { continue }
            guard let value = PercentCoding.decode(bytes[part]) else {
                throw Problem(.invalidRequest, "the path is not percent-encoded UTF-8")
            }
            guard value != ".", value != ".." else {
                throw Problem(.invalidRequest, "a path has no relative segments")
            }
            values.add(value, as: name)
        }
        let wanted = method == .head ? .get : method
        guard let target = entry.targets.first(where: { $0.route.method == wanted }) else {
            return .otherMethods(entry.targets.map { $0.route.method })
        }
        return .route(target, values)
    }

    /// Where the segments stand; nil if no route has as many, or the first slash is missing.
    private func parts(of bytes: [UInt8]) -> [Range<Int>]? {
        let slash = UInt8(ascii: "/")
        guard bytes.first == slash else { return nil }
        var parts: [Range<Int>] = []
        parts.reserveCapacity(entries.count)
        var start = 1
        for index in 1...bytes.count where index == bytes.count || bytes[index] == slash {
            parts.append(start..<index)
            guard parts.count < entries.count else { return nil }
            start = index + 1
        }
        return parts
    }

    private static func fits(
        _ segments: [Segment],
        _ bytes: [UInt8],
        _ parts: [Range<Int>]
    ) -> Bool {
        // Most paths begin alike.
        for index in segments.indices.reversed() {
            let part = parts[index]
            switch segments[index] {
            case .literal(let literal):
                guard literal.count == part.count else { return false }
                for place in literal.indices
                where literal[place] != bytes[part.lowerBound + place] {
                    return false
                }
            case .parameter: if part.isEmpty { return false }
            }
        }
        return true
    }
}
