import LedgerAPI

/// Every call of the HTTP interface, in the order of its description.
enum RouteTable {
    static let routes: [Route] =
        signalRoutes + importRoutes + claimRoutes + syncRoutes + changeRoutes + ownerRoutes
        + extensionRoutes + consumptionRoutes + eraseRoutes
        + flowRoutes + questionRoutes + decisionRoutes + snapshotRoutes + explainRoutes
        + exportRoutes
        + differenceRoutes
        + catalogRoutes + gateRoutes + productRoutes + whatIfRoutes + reportRoutes
        + flagRoutes + feedRoutes + webhookRoutes + logRoutes + auditRoutes + verifyRoutes
        + comparisonRoutes
        + maintenanceRoutes + consoleRoutes + pageLinkRoutes + clusterRoutes + operationRoutes

    /// Parameters of questions about a customer.
    static let pointParameters = [
        environmentParameter,
        Route.Parameter(name: "at", text: "T (default: now)", shape: .point),
        Route.Parameter(name: "known", text: "R (default: all that is known)", shape: .point),
        Route.Parameter(
            name: "knownSequence",
            text: "R, as the size of the log's prefix; excludes known",
            shape: .sequence
        ),
        minimumSequence,
    ]

    static let environmentParameter = Route.Parameter(
        name: "environment",
        text: "The environment that is meant (default: production)",
        shape: .choice(["production", "sandbox", "local"])
    )

    static let minimumSequence = Route.Parameter(
        name: "Ledger-Min-Sequence",
        place: .header,
        text: "The least size of the log to answer from, as Ledger-Sequence says it: waits 2 s",
        shape: LogPlace.shape
    )

    static let idempotencyKey = Route.Parameter(
        name: "Idempotency-Key",
        place: .header,
        text: "A name for this request: repeating it changes nothing",
        shape: .pattern("^[!-~]([ -~]{0,\(Call.keyByteLimit - 2)}[!-~])?$")
    )

    static let dryRunParameter = Route.Parameter(
        name: "dry-run",
        text: "Whether to say what would be done, and record nothing (default: false)",
        shape: .boolean
    )

    /// Problems of everything that appends.
    static let appendProblems: [ProblemCode] = [
        .conflict, .keyReused, .readOnly, .clockBehind, .clockAhead, .storageFull, .tooLarge,
        .notPermitted,
    ]

    /// Bodies of requests that hold a few members.
    static let smallBodyLimit = 64 << 10
}
