import ArgumentParser
import Entitlements
import LedgerAPI
import LedgerOperations
import LedgerServer
import Presentation
import Stores

/// The command `entitle test-notification`.
struct TestNotification: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test-notification",
        abstract: "Asks the App Store for a test notification, and says whether it was taken.",
        discussion: HelpText.discussion(
            """
            It goes to the address that is set in App Store Connect: /v1/signals/app-store of the server that \
            serves this ledger. There it is verified as any other, and kept as `signal.noted`. Exit 1 where \
            the address did not take it, 75 where the App Store had not sent it within half a minute.
            """,
            examples: "entitle test-notification --environment sandbox"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var stores: StoresOptions
    @Option(help: "The app, where there are several (default: each).") var bundle: String?

    /// How often, and how many seconds apart, the App Store is asked what came of it.
    private static let looks = 15
    private static let secondsBetweenLooks = 2

    func run() throws {
        guard let api = try stores.clients(options).appStore?.api else {
            throw StoresOptions.notConfigured(options)
        }
        let environment = try options.environment()
        let apps = bundle.map { [$0] } ?? api.bundleIDs
        let answers = try Blocking.value {
            var answers: [TestNotificationAnswer] = []
            for app in apps { answers.append(try await Self.test(app, api, environment)) }
            return answers
        }
        for answer in answers {
            Terminal.tell(AnswerText(answer), or: answer.textLines, asJSON: options.json)
        }
        if answers.contains(where: \.attempts.isEmpty) { throw ExitCode(.tryAgain) }
        if !answers.allSatisfy(\.isTaken) { throw ExitCode(.no) }
    }

    private static func test(
        _ app: String,
        _ api: AppStoreServerAPI,
        _ environment: StoreEnvironment
    ) async throws -> TestNotificationAnswer {
        let token = try await api.requestTest(about: app, in: environment)
        var attempts: [String] = []
        for _ in 0..<looks where attempts.isEmpty {
            attempts = try await api.attempts(ofTest: token, about: app, in: environment)
            if attempts.isEmpty { try await Task.sleep(for: .seconds(secondsBetweenLooks)) }
        }
        return TestNotificationAnswer(bundleID: app, attempts: attempts)
    }
}
