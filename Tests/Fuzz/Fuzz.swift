import Encodings
import FoundationEssentials
import Glibc

/// Tries the decoders with inputs that libFuzzer makes: what `tools/fuzz` runs.
///
/// `FUZZ_TARGET` names the target, `FUZZ_AUTHORITY` a file that the App Store's stand-in keeps its
/// keys in, so that inputs signed by one process are taken by the next. `fuzz --write-seeds FOLDER`
/// writes inputs to begin with; any other arguments are libFuzzer's.
@main
enum Fuzz {
    static let environment = ProcessInfo.processInfo.environment

    /// What is tried; without it there is nothing to do.
    static let target: any FuzzTarget = {
        do {
            return try target(named: environment["FUZZ_TARGET"] ?? "")
        } catch {
            fatalError("no target: \(error)")
        }
    }()

    private static func target(named name: String) throws -> any FuzzTarget {
        switch name {
        case "jws": return try CompactJWSTarget(FuzzedAppStore())
        case "payload": return try PayloadTarget(FuzzedAppStore())
        case "answer": return try AnswerTarget(FuzzedAppStore())
        case "products": return try ProductsTarget()
        case "revenuecat": return RevenueCatTarget()
        case "play": return try PlayTarget()
        case "token": return try PushTokenTarget()
        case "json": return JSONTarget()
        case "event": return EventTarget()
        case "catalog": return CatalogTarget()
        case "record": return try RecordTarget()
        case "question": return try QuestionTarget()
        case "request": return RequestTarget()
        case "argument": return ArgumentTarget()
        case "pages": return try PagesTarget()
        default: throw UnknownTarget(name: name)
        }
    }

    private struct UnknownTarget: Error {
        let name: String
    }

    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, arguments[1] == "--write-seeds" else {
            exit(LibFuzzer.run())
        }
        for (index, seed) in target.seeds().enumerated() {
            let file = URL(filePath: arguments[2]).appending(path: "seed-\(index)")
            try Data(seed).write(to: file)
        }
    }
}
