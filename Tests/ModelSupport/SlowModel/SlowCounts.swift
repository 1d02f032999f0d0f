import Encodings
package import Entitlements

/// Customers, flows, errors and experiments, counted again from the events, slowly.
package struct SlowCounts {
    let log: [RecordedEvent]
    let environment: StoreEnvironment
    let at: Instant
    let range: Interval

    package init(
        log: [RecordedEvent],
        environment: StoreEnvironment,
        at: Instant,
        range: Interval
    ) {
        self.log = log
        self.environment = environment
        self.at = at
        self.range = range
    }

    private var own: [RecordedEvent] { log.filter { $0.event.environment == environment } }

    /// Customers by tier, customers and purchases by status.
    package var customers: [String: Int] {
        var counts: [String: Int] = [:]
        var links = SlowLinks()
        var named: [String] = []
        for event in own {
            named += [event.data.text(.account)].compactMap(\.self)
            guard case .customer(let id) = event.event.subject else { continue }
            named += [id.text] + (event.data.texts(.from) ?? [])
            if let alias = event.data.text(.alias) {
                links.add(alias: alias, name: id.text)
                named.append(alias)
            }
        }
        for customer in Set(named.map(links.end)) {
            let answer = SlowModel(log: log).show(
                customer: customer,
                environment: environment,
                at: at
            )
            counts["tier " + (answer["tier"]?.string ?? ""), default: 0] += 1
            let statuses = (answer["purchases"]?.array ?? []).compactMap { $0["status"]?.string }
            for status in statuses { counts["purchases " + status, default: 0] += 1 }
            for status in Set(statuses) { counts["customers " + status, default: 0] += 1 }
        }
        return counts
    }

    private static let ends: [EventKind] = [
        .flowSucceeded, .flowFailed, .flowCancelled, .flowPending, .flowRestored,
    ]

    private var flowEvents: [RecordedEvent] {
        own.filter { $0.time <= at && ($0.kind == .flowStarted || Self.ends.contains($0.kind)) }
            .inOrderOfTime
    }

    /// Flows by product and platform, all and by their last end.
    package var funnel: [String: Int] {
        var counts: [String: Int] = [:]
        var met: Set<String> = []
        for first in flowEvents {
            let name = Self.flow(first)
            guard met.insert(name).inserted, range.contains(first.time) else { continue }
            let events = flowEvents.filter { Self.flow($0) == name }
            let product = events.compactMap { $0.data.text(.productID) }.first ?? "-"
            let platform = events.compactMap { $0.data.text(.platform) }.first ?? "-"
            let end = events.last { Self.ends.contains($0.kind) }?.kind.name ?? "open"
            counts["\(product) \(platform)", default: 0] += 1
            counts["\(product) \(platform) \(end)", default: 0] += 1
        }
        return counts
    }

    private static func flow(_ event: RecordedEvent) -> String {
        event.event.subject.description + " " + (event.data.text(.flowID) ?? "")
    }

    /// The milliseconds of every stage, ascending.
    package var stages: [String: [Int64]] {
        var times: [String: [Int64]] = [:]
        for event in flowEvents where range.contains(event.time) {
            guard case .durations(let stages)? = event.data[.stages] else { continue }
            for stage in stages { times[stage.name, default: []].append(stage.milliseconds) }
        }
        return times.mapValues { $0.sorted() }
    }

    /// Errors by origin and code.
    package var errors: [String: Int] {
        var counts: [String: Int] = [:]
        for event in own where event.time <= at && range.contains(event.time) {
            switch event.kind {
            case .flowFailed:
                counts["flow " + (event.data.text(.errorCode) ?? "UNKNOWN_ERROR"), default: 0] += 1
            case .failureRecorded:
                counts["failure " + (event.data.text(.errorCode) ?? ""), default: 0] += 1
            default: break
            }
        }
        return counts
    }

    /// Exposures, conversions and mismatches by experiment and variant.
    package var experiments: [String: Int] {
        var links = SlowLinks()
        for event in own {
            guard case .customer(let id) = event.event.subject, let alias = event.data.text(.alias)
            else { continue }
            links.add(alias: alias, name: id.text)
        }
        func customer(_ event: RecordedEvent) -> String {
            guard case .customer(let id) = event.event.subject else { return "" }
            return links.end(of: id.text)
        }
        var counts: [String: Int] = [:]
        var met: Set<String> = []
        for exposure in flowEvents {
            guard let text = exposure.data.text(.experiment) else { continue }
            let parts = text.split(separator: "/", maxSplits: 1).map(String.init)
            let who = customer(exposure)
            guard met.insert(who + "\n" + parts[0]).inserted, range.contains(exposure.time) else {
                continue
            }
            let catalogs = log.filter { $0.kind == .catalogPublished }.map(SlowCatalog.init)
            let listed = catalogs.inForce(at: exposure.time)?.document["experiments"]?.array
            let assigned = listed?.first { $0["id"]?.string == parts[0] }
                .flatMap { SlowCatalog.variant(of: $0, for: who)?["id"]?.string }
            let stated = parts.count > 1 ? parts[1] : nil
            let key = "\(parts[0]) \(assigned ?? stated ?? "-") \(assigned != nil)"
            counts[key + " exposures", default: 0] += 1
            let hasBought = flowEvents.contains { event in
                let named = event.data.text(.experiment) ?? ""
                return event.kind == .flowSucceeded && customer(event) == who
                    && (named == parts[0] || named.hasPrefix(parts[0] + "/"))
            }
            if hasBought { counts[key + " conversions", default: 0] += 1 }
            if let stated, let assigned, stated != assigned {
                counts[key + " mismatches", default: 0] += 1
            }
        }
        return counts
    }
}
