package import Encodings
package import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations

extension ServerClient {
    /// Lends the events that a filter lets through as a server tells them, ascending, a page after the other,
    /// until the body returns false.
    ///
    /// `withEvidence`: with the payload that each was read from. `limit`: events, at most.
    ///
    /// - Returns: the log's size up to which it was looked; nil: the body ended it, or nothing stands there.
    /// - Throws: `OperationFault` where it answers with a problem, or not at all; what the body throws.
    @discardableResult
    package func events(
        _ filter: EventFilter,
        withEvidence: Bool = false,
        limit: Int = .max,
        _ body: (JSONValue) throws -> Bool
    ) async throws -> UInt64? {
        let (before, isFirst) = filter.sequences.lowerBound.subtractingReportingOverflow(1)
        var (after, left) = (isFirst ? nil : before, limit)
        while left > 0 {
            let call = filter.call(after: after, limit: left, withEvidence: withEvidence)
            let reply: ServerReply
            do {
                reply = try await page(of: call)
            } catch let fault as OperationFault
                where fault.code.rawValue == ProblemCode.unknownSequence.rawValue
            {
                // Behind the log's end stands nothing.
                return nil
            }
            // An answer of another version's server may have another shape.
            guard let events = (try? JSONValue(parsing: reply.body))?.array else {
                throw OperationFault(
                    .wrongAnswer,
                    "the server's answer is not what this version reads"
                )
            }
            for event in events where try !body(Self.asPrinted(event)) { return nil }
            left -= events.count
            guard let next = reply.link.flatMap(Self.sequence(ofLink:)) else { return reply.size }
            after = next
        }
        return nil
    }

    /// An event as a command prints it: the feed gives a name to an id and a source that are erased.
    private static func asPrinted(_ event: JSONValue) -> JSONValue {
        guard case .object(var members) = event,
            let sequence = event["sequence"]?.string.flatMap({ UInt64($0) }),
            event["id"]?.string == "hidden/\(sequence)"
        else { return event }
        for index in members.indices
        where members[index].name == "id"
            || members[index].name == "source" && members[index].value.string == "hidden"
        {
            members[index].value = .null
        }
        return .object(members)
    }

    /// The event behind which a link says that the next page stands: `<?after=N…>; rel="next"`.
    private static func sequence(ofLink link: String) -> UInt64? {
        guard let place = link.firstRange(of: "after=") else { return nil }
        return UInt64(link[place.upperBound...].prefix { $0.isASCII && $0.isNumber })
    }
}

extension EventFilter {
    /// Events of a page, at most.
    private static let pageLimit = 1000

    /// The filter as a server is asked by it.
    fileprivate func call(after: UInt64?, limit: Int, withEvidence: Bool) -> ServerCall {
        var query = [(name: "limit", value: String(min(limit, Self.pageLimit)))]
        func add(_ name: String, _ value: String?) {
            if let value { query.append((name, value)) }
        }
        add("after", after.map { String($0) })
        add("customer", customer?.text)
        add("purchase", purchase?.description)
        add("type", kind?.name)
        add("source", source)
        add("environment", environment?.name)
        if sequences.upperBound < .max { add("to", String(sequences.upperBound)) }
        add("since", times.flatMap { $0.start < .earliest ? nil : $0.start.description })
        add("until", times?.end?.description)
        if withEvidence { add("raw", "true") }
        return .get(["v1", "events"], query)
    }
}
