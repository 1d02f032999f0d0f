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
    /// - Throws: `OperationFault` where it answers with a problem, or not at all; what the body throws.
    package func events(
        _ filter: EventFilter,
        withEvidence: Bool = false,
        limit: Int = .max,
        _ body: (JSONValue) throws -> Bool
    ) async throws {
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
                return
            }
            // An answer of another version's server may have another shape.
            guard let events = (try? JSONValue(parsing: reply.body))?.array else {
                throw OperationFault(
                    .wrongAnswer,
                    "the server's answer is not what this version reads"
                )
            }
            for event in events where try !body(event) { return }
            left -= events.count
            guard let next = reply.link.flatMap(Self.sequence(ofLink:)) else { return }
            after = next
        }
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
