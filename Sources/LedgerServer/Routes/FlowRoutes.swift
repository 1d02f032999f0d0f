import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI

/// What happens in the app while somebody buys (rows 2.2, 2.4, 10.1).
extension RouteTable {
    static let flowRoutes = [
        Route(
            method: .post,
            template: "/v1/customers/{id}/flows",
            operation: "recordFlow",
            summary: """
                A purchase flow has started or ended, or a list of such: one at a time for each \
                customer.
                """,
            access: .customer([.write]),
            parameters: [environmentParameter, idempotencyKey],
            body: Route.Body(
                shape: .either([flow, .list(flow)]),
                byteLimit: 4 * smallBodyLimit
            ),
            answers: [
                Route.Reply(
                    status: 200,
                    text: "On the disk, now or before; of a list what became of each",
                    shape: .either([.named("Receipt"), .described(BatchAnswer.self)])
                )
            ],
            problems: appendProblems + [.purchaseInProgress],
            isLogged: true,
            handler: record
        )
    ]

    /// What is told of a flow.
    private static let flow = Shape.object(
        [Shape.Member("type", .choice(kinds.map(\.word))), Shape.Member(.flowID)],
        optional: [Field.productID, .errorCode, .stages, .platform, .experiment].map {
            Shape.Member($0)
        },
        isClosed: true
    )

    /// Starts and ends that are handed in at once.
    private static let flowLimit = 500

    private static let kinds: [(word: String, kind: EventKind)] = [
        ("started", .flowStarted), ("succeeded", .flowSucceeded), ("failed", .flowFailed),
        ("cancelled", .flowCancelled), ("pending", .flowPending), ("restored", .flowRestored),
    ]

    @Sendable
    private static func record(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let body = try call.json()
        let request = try call.request(service, source: Source.app)
        guard let flows = body.array else {
            let receipt = try await receipt(of: body, call, request, service)
            return try answer(receipt, nil, call, request) { _ in }
        }
        guard flows.count <= flowLimit else {
            throw Problem(.outOfRange, "a batch has at most \(flowLimit) starts and ends of flows")
        }
        // Each is an append: a customer hands in no more of them in one call than in many (row 9.6).
        try service.access.admitFurther(flows.count - 1, of: call.caller)
        var items: [BatchItem] = []
        for (index, flow) in flows.enumerated() {
            // Named by its place, so that all of them may come again (E1).
            var own = request
            if index > 0 { own.id += "#\(index + 1)" }
            do {
                let receipt = try await receipt(of: flow, call, own, service)
                items.append(BatchItem(try SignalReceipt(receipt) { call.problem(of: $0) }))
            } catch let problem as Problem where problem.code != .busy {
                // What is wrong with one holds up no other; all come again where the server is busy.
                items.append(BatchItem(problem))
            }
        }
        let size = try service.ledger.questions.size()
        return Answer(BatchAnswer(items: items, sequence: size)).at(size: size)
    }

    /// What became of a start or an end.
    ///
    /// - Throws: `Problem` for one that is none, and for a start while another flow runs.
    private static func receipt(
        of flow: JSONValue,
        _ call: Call,
        _ request: LedgerRequest,
        _ service: LedgerService
    ) async throws -> Receipt {
        let word = try flow.required("type")
        guard let kind = kinds.first(where: { $0.word == word })?.kind else {
            let words = kinds.map(\.word).joined(separator: ", ")
            throw Problem(.invalidValue, "expected one of \(words)", path: "type")
        }
        let members = (flow.members ?? []).filter { $0.name != "type" }
        let data = try call.data(kind, .object(members))
        let flowID = data.text(.flowID) ?? ""
        let flows = service.access.flows
        let customer = try call.customer
        // C2: what names an alias names its customer.
        let names = try await service.blocking {
            try service.ledger.questions.names(of: customer, in: request.environment)
        }
        let isStart = kind == .flowStarted
        var hasBegun = false
        if isStart {
            let outcome = flows.begin(
                flowID,
                of: names,
                in: request.environment,
                at: call.now
            )
            hasBegun = outcome.hasBegun
            if let problem = call.problem(of: outcome) {
                // E1: a start that was recorded before has its first outcome, whoever buys by now.
                guard call.headers[.idempotencyKey] != nil,
                    try await isRepeated(data, of: customer, request, service)
                else { throw problem }
            }
        }
        let decided = try await decided(call, request, service) { _ in
            customer
        } by: { [hasBegun, now = call.now] (ledger: Ledger) throws -> Receipt in
            // A start that is not recorded, or was before, begins nothing and shuts nobody out.
            var isOver = hasBegun
            defer {
                if isOver { flows.end(flowID, of: names, in: request.environment, at: now) }
            }
            let receipt = try ledger.appender.recordFlow(data, of: customer, request)
            switch receipt {
            // A flow runs until its end is on the disk.
            case .appended: isOver = !isStart
            case .duplicate: isOver = hasBegun || !isStart
            case .known, .refused: break
            }
            return receipt
        }
        return decided.outcome
    }

    /// Whether a request was decided before; a draft of the ledger says what it comes to.
    private static func isRepeated(
        _ data: EventData,
        of customer: CustomerID,
        _ request: LedgerRequest,
        _ service: LedgerService
    ) async throws -> Bool {
        try await service.blocking {
            let draft = try service.ledger.draft()
            let receipt = try draft.appender.recordFlow(data, of: customer, request)
            try draft.close()
            guard case .appended = receipt else { return true }
            return false
        }
    }
}

extension BatchItem {
    fileprivate init(_ receipt: SignalReceipt) {
        self.init(
            receipt.outcome == .appended ? .appended : .duplicate,
            sequence: receipt.sequence
        )
    }

    fileprivate init(_ problem: Problem) {
        self.init(
            .refused,
            code: problem.code.rawValue,
            path: problem.path,
            detail: problem.detail
        )
    }
}

extension PurchaseFlowLock.Outcome {
    fileprivate var hasBegun: Bool {
        guard case .began = self else { return false }
        return true
    }
}

extension Call {
    /// Why a flow may not begin; nil: it may.
    fileprivate func problem(of outcome: PurchaseFlowLock.Outcome) -> Problem? {
        switch outcome {
        case .began, .sameFlow: nil
        case .busy(let until):
            Problem(
                .purchaseInProgress,
                "another flow of this customer runs until it ends or expires",
                retryAfter: seconds(until: until)
            )
        case .full: Problem(.busy, "too many flows run", retryAfter: 60)
        }
    }
}
