import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import LedgerOperations
import Presentation
import Stores

/// What support has recorded from a customer's page: each by a form, a preview, and a reason (row 8.6).
extension PageTable {
    static let customerForms: [Route] = CustomerForm.allCases.flatMap { form in
        [
            .page(
                form.template,
                form.operation(after: "show") + "Form",
                form.title(in: .english) + ": the form.",
                form.scopes,
                isLogged: true
            ) { try await page(form, $0, $1) },
            .form(
                form.template,
                form.operation(after: "send") + "Form",
                form.meaning(in: .english),
                .page(form.scopes),
                fields: FormField.Name.allCases.map(\.rawValue)
                    + [CustomerFormPage.requestName, CustomerFormPage.confirmedName]
            ) { try await send(form, $0, $1, $2) },
        ]
    }

    // MARK: The form

    @Sendable
    private static func page(
        _ form: CustomerForm,
        _ call: Call,
        _ service: LedgerService
    ) async throws -> Page {
        let shown = try await formPage(form, call, service)
        var body = XMLText()
        shown.write(to: &body)
        return Page(
            title: form.title(in: call.language),
            section: .customers,
            body: body,
            json: Array(#"{"form":"\#(form.rawValue)"}"#.utf8)
        )
    }

    private static func formPage(
        _ form: CustomerForm,
        _ call: Call,
        _ service: LedgerService
    ) async throws -> CustomerFormPage {
        let point = PagePoint(at: nil, known: .everything, now: call.now)
        let question = try call.question(at: point)
        let link = try call.customerLink()
        let state = try await service.blocking {
            try service.ledger.questions.show(question).answer.state
        }
        return CustomerFormPage(
            language: call.language,
            form: form,
            action: link(.form(form), point),
            back: link(.customer, point),
            token: call.session?.formToken,
            fields: fields(of: form, state),
            requestID: service.makeID()
        )
    }

    private static func fields(of form: CustomerForm, _ state: StateContent) -> [FormField] {
        let purchases = FormField(.purchase, choices: state.purchases.map(\.purchase))
        let own: [FormField] =
            switch form {
            case .grant: [FormField(.tier), FormField(.features), FormField(.expiresAt)]
            case .withdraw:
                [
                    FormField(
                        .grantID,
                        choices: state.grants.filter(\.isActive).map(\.grantID)
                    )
                ]
            case .link: [FormField(.alias)]
            case .transfer: [purchases, FormField(.to)]
            case .release: [purchases]
            case .erase: [FormField(.typed)]
            case .sync, .verify: []
            }
        return own + [FormField(.reason)]
    }

    // MARK: What it sends

    @Sendable
    private static func send(
        _ form: CustomerForm,
        _ call: Call,
        _ sent: Query,
        _ service: LedgerService
    ) async throws -> Answer {
        do {
            return try await take(form, call, sent, service)
        } catch let problem as Problem
            where problem.code.status < 500
            || [.storeUnavailable, .notConfigured].contains(problem.code)
        {
            // What was filled in stands there still, with what is wrong with it, or with what is left to do.
            var page = try await formPage(form, call, service)
            page.fill(sent)
            let answer = ProblemAnswer(problem, in: call.language, requestID: call.requestID)
            page.fault = [answer.title, answer.detail].compactMap(\.self).joined(separator: ": ")
            return try shown(page, call, service, of: [call.customer], status: problem.code.status)
        }
    }

    private static func take(
        _ form: CustomerForm,
        _ call: Call,
        _ sent: Query,
        _ service: LedgerService
    ) async throws -> Answer {
        let asked = try FormRequest(form, call, sent)
        guard sent[CustomerFormPage.confirmedName] == "yes" else {
            var page = try await formPage(form, call, service)
            page.fill(sent)
            page.isFilled = true
            var told = [asked.customer]
            if let decide = asked.decide {
                let rehearsal = try await service.blocking {
                    try service.ledger.rehearse(
                        in: asked.request.environment,
                        at: service.clock,
                        about: { $0.formerOwner ?? asked.customer },
                        decide
                    )
                }
                // A refusal is told before anything is confirmed.
                _ = try SignalReceipt(rehearsal.outcome.receipt) { call.problem(of: $0) }
                page.preview = rehearsal.difference
                if let owner = rehearsal.outcome.formerOwner, owner != asked.customer {
                    told.append(owner)
                }
            }
            return try shown(page, call, service, of: told, status: 200)
        }
        guard service.accesses.hasRoom else { throw Problem.accessesFull }
        let outcome = try await asked.run(call, service)
        let accesses = call.accesses(
            to: outcome.concerned,
            in: asked.request.environment,
            form.operation,
            asked.reason
        )
        for access in accesses { service.accesses.add(access) }
        if let problem = outcome.problem { throw problem }
        guard form != .erase else { return .seeOther(call.link(["customers"])) }
        return .seeOther(call.link(["customers", asked.customer.text], [(.done, form.rawValue)]))
    }

    /// A form once more: it shows what customers have, which is noted as where it was asked for.
    private static func shown(
        _ page: CustomerFormPage,
        _ call: Call,
        _ service: LedgerService,
        of customers: [CustomerID],
        status: Int
    ) throws(Problem) -> Answer {
        guard service.accesses.hasRoom else { throw Problem.accessesFull }
        let accesses = call.accesses(
            to: customers,
            in: try call.environment(),
            page.form.operation(after: "send") + "Form",
            call.accessReason
        )
        for access in accesses { service.accesses.add(access) }
        let frame = try call.frame(page.form.title(in: call.language), .customers)
        return Answer(status: status, html: frame.html { page.write(to: &$0) })
    }
}

extension CustomerFormPage {
    /// Takes over what was filled in.
    fileprivate mutating func fill(_ sent: Query) {
        for index in fields.indices {
            fields[index].value = sent[fields[index].name.rawValue] ?? ""
        }
        requestID = sent[Self.requestName] ?? requestID
    }
}
