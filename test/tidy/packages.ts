// The packages of the workspace as their package.json and tsconfig.json describe them, and the rules for those two files.

import type { Finding, SourceFile } from "./finding.ts"
import { resolveRelative } from "./imports.ts"

export const SCOPE = "@invokejs/"

/** Who may import whom: the table of ARCHITECTURE.md. A package that is not a key is not known yet. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  engine: ["protocol"],
  "journal-sqlite": ["protocol", "engine"],
  "journal-postgres": ["protocol", "engine"],
  connectors: ["protocol", "engine"],
  testkit: ["protocol", "engine"],
  client: ["protocol"],
  console: ["protocol", "client"],
  server: ["protocol", "engine", "journal-sqlite", "journal-postgres", "connectors"],
  "gateway-mcp": ["protocol", "engine", "journal-sqlite", "journal-postgres", "connectors", "client"],
  invoke: [
    "protocol",
    "engine",
    "journal-sqlite",
    "journal-postgres",
    "connectors",
    "client",
    "server",
    "gateway-mcp",
    "testkit", // the demo shows faults with its fault proxy and stand-in providers
  ],
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly bin?: string | Record<string, string>
  readonly exports?: Record<string, unknown>
  readonly dependencies?: Record<string, string>
  readonly devDependencies?: Record<string, string>
  readonly optionalDependencies?: Record<string, string>
  readonly peerDependencies?: Record<string, string>
}

export interface WorkspacePackage {
  /** The folder under `packages/`, which is also the name without its scope. */
  readonly folder: string
  readonly manifest: Manifest
  /** Folders of the packages that its tsconfig.json refers to. */
  readonly references: readonly string[]
}

/** Reads the packages out of the tree. */
export function workspacePackages(tree: readonly SourceFile[]): WorkspacePackage[] {
  return tree.flatMap((file) => {
    const folder = /^packages\/([^/]+)\/package\.json$/.exec(file.path)?.[1]
    if (folder === undefined) return []
    const config = tree.find((other) => other.path === `packages/${folder}/tsconfig.json`)
    const { references = [] } = JSON.parse(config?.text ?? "{}") as { references?: { path: string }[] }
    return [
      {
        folder,
        manifest: JSON.parse(file.text) as Manifest,
        references: references.map((reference) => reference.path.replace(/^\.\.\//, "")),
      },
    ]
  })
}

/** The doors of the packages: what can be imported, as it is written, with the source file that stands behind it. */
export function doorsOf(packages: readonly WorkspacePackage[]): Map<string, string> {
  const doors = packages.flatMap(({ folder, manifest }) =>
    Object.entries(manifest.exports ?? {}).map(([door, target]) => {
      const built = typeof target === "string" ? target : ((target as { default?: string }).default ?? "")
      return [manifest.name + door.slice(1), sourceOfBuilt(folder, built)] as const
    }),
  )
  return new Map(doors.filter(([, path]) => path.endsWith(".ts")))
}

/** The source file from which a file of a package is built. */
export function sourceOfBuilt(folder: string, path: string): string {
  return resolveRelative(`packages/${folder}/package.json`, path)
}

/** Runtime dependencies of a package, its peers included. */
export function runtimeDependencies(pack: WorkspacePackage): string[] {
  const { dependencies, optionalDependencies, peerDependencies } = pack.manifest
  return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
}

/** Dependencies inside the workspace, as folders. */
export function workspaceDependencies(pack: WorkspacePackage): string[] {
  return runtimeDependencies(pack)
    .filter((name) => name.startsWith(SCOPE))
    .map((name) => name.slice(SCOPE.length))
}

/** package.json and tsconfig.json: direction, names, lock-step versions, exact pins. */
export function judgePackages(packages: readonly WorkspacePackage[], root: Manifest): Finding[] {
  return [
    ...judgePins("package.json", root, root.version),
    ...packages.flatMap((pack) => {
      const path = `packages/${pack.folder}/package.json`
      const say = (message: string): Finding => ({ path, line: 1, message })
      const { name, version } = pack.manifest
      return [
        ...(name === SCOPE + pack.folder ? [] : [say(`name is ${name}, expected ${SCOPE}${pack.folder}`)]),
        ...(version === root.version ? [] : [say(`version ${version} is not the workspace's ${root.version}`)]),
        ...judgePins(path, pack.manifest, root.version),
        ...judgeDirection(pack).map(say),
      ]
    }),
  ]
}

function judgeDirection(pack: WorkspacePackage): string[] {
  const allowed = MAY_IMPORT[pack.folder]
  if (allowed === undefined) return [`${pack.folder} has no line in MAY_IMPORT of test/tidy/packages.ts; give it one`]
  const dependencies = workspaceDependencies(pack).toSorted()
  const references = pack.references.toSorted()
  return [
    ...dependencies
      .filter((name) => !allowed.includes(name))
      .map((name) => `${pack.folder} must not depend on ${name}`),
    ...(dependencies.join() === references.join()
      ? []
      : [`tsconfig.json refers to [${references.join(", ")}], dependencies are [${dependencies.join(", ")}]`]),
  ]
}

function judgePins(path: string, manifest: Manifest, workspaceVersion: string): Finding[] {
  const { dependencies, devDependencies, optionalDependencies } = manifest
  const pins = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
  return pins.flatMap(([name, version]) => {
    if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) {
      return [{ path, line: 1, message: `${name} is pinned to ${version}; give an exact version` }]
    }
    const strayed = name.startsWith(SCOPE) && version !== workspaceVersion
    return strayed ? [{ path, line: 1, message: `${name} ${version} is not the workspace's ${workspaceVersion}` }] : []
  })
}
