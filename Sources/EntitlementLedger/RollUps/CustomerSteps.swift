import Entitlements
import EventLog

/// Steps of customers, each folded from all that concerns them (Model, "Questions").
struct CustomerSteps: StepSource {
    let questions: Questions
    let size: UInt64
    let environment: StoreEnvironment

    /// Customers that are folded anew for a question.
    private static let anewLimit = 20_000

    func addAll(to table: inout StepTable) throws {
        let parts = try questions.foldCustomers(
            upTo: size,
            environment: environment,
            into: table.emptied
        ) { CustomerReport.addSteps(of: $1, to: &$0) }
        for part in parts { table.merge(part) }
    }

    func addChange(
        of spoken: [UInt64: EventKind],
        since first: UInt64,
        to table: inout StepTable
    ) throws -> Bool {
        var concerned: Set<UInt64> = []
        for (stream, kind) in spoken {
            concerned.formUnion(try customers(concernedBy: stream, kind, since: first))
            guard concerned.count <= Self.anewLimit else { return false }
        }
        let customers = concerned.sorted()
        table.merge(try steps(of: customers, in: first, table.emptied), times: -1)
        table.merge(try steps(of: customers, in: size, table.emptied))
        return true
    }

    /// The streams of customers whose answers an event about a stream may change.
    private func customers(
        concernedBy stream: UInt64,
        _ kind: EventKind,
        since first: UInt64
    ) throws -> [UInt64] {
        // What the fold passes over makes a customer of its subject, and changes nobody known.
        if try !kind.isFolded && !questions.views.entries(of: stream, below: first).isEmpty {
            return []
        }
        guard let isCustomer = try questions.isCustomer(stream, kind) else { return [] }
        var loader = FactLoader(
            log: questions.log,
            vault: questions.vault,
            views: questions.views,
            size: size
        )
        _ = try isCustomer ? loader.facts(ofCustomer: stream) : loader.facts(ofPurchase: stream)
        return loader.customerStreams
    }

    /// The steps of some customers, each once by the name that links lead to (C2), as an earlier
    /// prefix tells; those that it does not know add none.
    private func steps(
        of customers: [UInt64],
        in size: UInt64,
        _ empty: StepTable
    ) throws -> StepTable {
        var table = empty
        var met: Set<UInt64> = []
        for customer in customers where !met.contains(customer) {
            if try questions.views.entries(of: customer, below: size).isEmpty { continue }
            let timeline = try questions.loadTimeline(ofStream: customer, size: size).timeline
            guard met.insert(timeline.customer).inserted else { continue }
            CustomerReport.addSteps(of: timeline, to: &table)
        }
        return table
    }
}
