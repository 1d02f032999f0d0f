import Encodings
package import Entitlements
import EventLog

extension Questions {
    /// Folds every customer of an environment over the first events of the log: for reports and
    /// what-if questions over a whole population.
    ///
    /// A customer is whoever an event speaks about or names as one, after C2; each is handed out
    /// once, in no order, with the timeline that `timeline(of:environment:size:)` gives. All cores
    /// work at once: each adds to a result of its own, for the caller to join.
    ///
    /// Cost: one pass over the log that checks every record, and one for each 600 000 facts; some
    /// 90 MB for each core, beside results.
    /// - Parameters:
    ///   - size: how many events are known; at most the log's size.
    ///   - environment: the environment that is asked about.
    ///   - initial: what each core begins with.
    ///   - add: adds a customer to a core's result; called on several threads, never at once for
    ///     one result.
    /// - Returns: a result for each core.
    /// - Throws: `LedgerFault` for a prefix that the log does not have, `LogStorageFault` and
    ///   `DecodingFault` where a record is damaged, before any customer that it concerns is handed
    ///   out; what `add` throws.
    package func foldCustomers<Result: Sendable>(
        upTo size: UInt64,
        environment: StoreEnvironment,
        into initial: Result,
        _ add: @Sendable (inout Result, CustomerTimeline) throws -> Void
    ) throws -> [Result] {
        let fold = PopulationFold(
            questions: self,
            size: try prefix(knownAt: .sequence(size)),
            environment: environment,
            catalogs: try catalogHistory(size: size)
        )
        return try fold.run(into: initial, add)
    }

    /// Everybody of whom something was told, once each, by the names that links lead to (C2), in their
    /// order; those whose name is erased are passed over.
    ///
    /// Cost: as `foldCustomers`.
    package func customers(in environment: StoreEnvironment) throws -> [CustomerID] {
        let found = try foldCustomers(
            upTo: log.end().size,
            environment: environment,
            into: [CustomerID]()
        ) { found, timeline in
            if let customer = try vault.customer(of: timeline.customer) { found.append(customer) }
        }
        return found.joined().sorted { $0.text.precedes($1.text) }
    }
}
