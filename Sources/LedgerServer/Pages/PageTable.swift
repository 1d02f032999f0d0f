import HTTPTypes
import LedgerAPI
import Presentation

/// Every page, and every form of one.
enum PageTable {
    static let routes: [Route] =
        loginPages + assetRoutes + searchPages + customerPages
        + differencePages + customerForms + ownPages
        + overviewPages + eventPages + healthPages + nodePages + auditPages
        + reportPages + catalogPages + deliveryPages + settingsPages + exportPages

    /// The pages of a server, with those of the simulated store that stands beside it; nil: none does.
    static func routes(beside simulator: (any SimulatedStoreDesk)?) -> [Route] {
        simulator == nil ? routes : routes + simulatorPages
    }

    /// The parts of the console that somebody reaches.
    ///
    /// `routes`: the pages that there are.
    static func sections(of caller: Caller, among routes: [Route]) -> [PageFrame.Section] {
        PageFrame.Section.allCases.filter { section in
            let route = routes.first { $0.template == section.path && $0.method == .get }
            guard case .page(let scopes) = route?.access else { return false }
            return caller.has(anyOf: scopes)
        }
    }
}
