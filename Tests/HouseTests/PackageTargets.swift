import Foundation

/// What targets may import: what `Package.swift` gives them, and of the system's modules those that
/// are named here.
enum PackageTargets {
    /// Modules of toolchain and system, which no manifest lists.
    private static let system: [String: Set<String>] = [
        "DurableFiles": ["FoundationEssentials", "Glibc"],
        "EntitlementClient": [
            "Foundation", "FoundationNetworking", "Observation", "StoreKit", "Synchronization",
        ],
        "Entitlements": ["Synchronization"],
        "EventLog": ["Glibc", "Synchronization"],
        "LMDB": ["Darwin", "Glibc", "Musl", "Synchronization"],
        "PostingIndex": ["Dispatch", "FoundationEssentials", "Synchronization"],
        "PostgresStorage": ["Glibc", "Synchronization"],
        "Salvage": ["Dispatch", "Synchronization"],
        "LMDBStorage": ["Dispatch", "FoundationEssentials", "Glibc", "Synchronization"],
        "EntitlementLedger": ["Dispatch", "FoundationEssentials", "Glibc", "Synchronization"],
        "LedgerOperations": ["Dispatch", "Foundation", "Glibc", "Synchronization"],
        "LedgerServer": ["FoundationEssentials", "Synchronization"],
        "Stores": ["FoundationEssentials", "Synchronization"],
        "StoreSimulator": ["FoundationEssentials", "Synchronization"],
        "Scenarios": ["Synchronization"],
        "LedgerBenchmarks": ["Dispatch", "Foundation", "Glibc", "Synchronization"],
        "client-bench": ["Foundation"],
        "entitle-example": ["Foundation", "SwiftUI", "Synchronization"],
        "entitle": ["Dispatch", "Foundation", "Glibc", "Synchronization"],
    ]

    /// The modules that each target of a manifest may import.
    static func imports(_ manifest: String) -> [String: Set<String>] {
        var products: [String: String] = [:]
        for match in manifest.matches(
            of: #/let (?<name>\w+) = Target\.Dependency\.product\(name: "(?<product>\w+)"/#
        ) {
            products[String(match.name)] = String(match.product)
        }
        var imports: [String: Set<String>] = [:]
        for part in manifest.components(separatedBy: #/\.(?:executableT|systemLibrary|t)arget\(/#) {
            guard let name = part.firstMatch(of: #/^\s*name: "([\w-]+)"/#)?.1 else { continue }
            let list =
                part.firstMatch(of: #/dependencies: \[(.*?)\]/#.dotMatchesNewlines())?.1 ?? ""
            var modules = system[String(name), default: []]
            for word in list.matches(of: #/"(?<module>\w[\w-]*)"(?! *\))|\b(?<product>\w+)\b/#) {
                if let module = word.module { modules.insert(String(module)) }
                if let product = word.product, let module = products[String(product)] {
                    modules.insert(module)
                }
            }
            imports[String(name)] = modules
        }
        return imports
    }
}

extension String {
    /// What stands between the matches of a pattern.
    fileprivate func components(separatedBy pattern: some RegexComponent) -> [String] {
        split(separator: pattern, omittingEmptySubsequences: false).map(String.init)
    }
}
