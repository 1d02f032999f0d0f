import Encodings

extension CatalogHistory {
    /// P12's L by the catalog in force at an instant, in milliseconds.
    func leewayMilliseconds(at instant: Instant) -> Int64 {
        policy(at: instant).map { $0.renewalLeewaySeconds * 1000 } ?? 0
    }

    /// These catalogs with another one from an instant on, in place of every catalog that was
    /// published for then or later.
    package func replaced(from effective: Instant, by catalog: Catalog) -> CatalogHistory {
        CatalogHistory(
            publications.filter { $0.time < effective } + [
                Publication(time: effective, sequence: .max, catalog: catalog)
            ]
        )
    }
}

extension CustomerTimeline {
    /// The same facts under other catalogs (row Z3): what the fold would have made of them.
    ///
    /// Folds again only what a catalog takes part in: trials (C4), purchases of which it makes other
    /// periods (P2, P12) or other owners (C1), and the stretches of both.
    ///
    /// `position`: K8's x for an experiment's id of the other catalogs and this customer's name.
    package func under(
        _ catalogs: CatalogHistory,
        position: (_ experiment: String) -> UInt64
    ) -> CustomerTimeline {
        CustomerTimeline(self, under: catalogs, seen: catalogs.seen(position: position))
    }

    private init(
        _ timeline: CustomerTimeline,
        under catalogs: CatalogHistory,
        seen: CatalogHistory
    ) {
        customer = timeline.customer
        grants = timeline.grants
        uses = timeline.uses
        self.catalogs = seen
        let known = (timeline.purchases + timeline.contested)
            .sorted { $0.timeline.number < $1.timeline.number }
        let isMoved = known.contains {
            $0.owners.restsOnPolicy || $0.timeline.isMoved(from: timeline.catalogs, to: catalogs)
        }
        guard isMoved || !timeline.trials.isEmpty else {
            (purchases, contested) = (timeline.purchases, timeline.contested)
            (trials, stretches) = (timeline.trials, timeline.stretches)
            return
        }
        let folded = known.map { purchase in
            let owners = purchase.owners.under(catalogs)
            let isMoved = purchase.timeline.isMoved(from: timeline.catalogs, to: catalogs)
            return OwnedPurchase(
                timeline: isMoved ? purchase.timeline.folded(under: catalogs) : purchase.timeline,
                owners: owners,
                ownership: owners.stretches(of: timeline.customer)
            )
        }
        purchases = folded.filter { !$0.ownership.isEmpty }
        contested = folded.filter(\.ownership.isEmpty)
        trials = timeline.trials.map { Trial(id: $0.id, start: $0.interval.start, seen) }
        stretches = Self.stretches(purchases, grants, trials)
    }
}

extension CustomerTimeline.Trial {
    /// C4: what the catalog in force at its start makes of a trial.
    init(id: String, start: Instant, _ catalogs: CatalogHistory) {
        let sold = catalogs.catalog(at: start)?.trials.first { $0.id.isSame(as: id) }
        let length = (sold?.days ?? 0) * Instant.millisecondsPerDay
        self.id = id
        interval = Interval(start: start, end: start.advanced(byMilliseconds: length))
        features = sold?.features ?? []
        tier = sold?.tier
    }
}
