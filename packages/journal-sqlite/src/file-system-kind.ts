/**
 * What kind of file system a folder is on. SQLite's locks and shared memory hold on local file systems only; on an
 * overlay or in memory the journal lives no longer than its container or machine.
 */
import { statfsSync } from "node:fs"

export type FileSystemKind = "local" | "network" | "ephemeral"

export interface FileSystem {
  readonly kind: FileSystemKind
  readonly name: string
}

/** `f_type` of statfs(2), Linux. FUSE counts as network: behind it may be anything, and often another machine. */
const NETWORK: Readonly<Record<number, string>> = {
  0x6969: "nfs",
  0x517b: "smb",
  0xff_53_4d_42: "cifs",
  0xfe_53_4d_42: "smb2",
  0x01_02_19_97: "9p",
  0x65_73_55_46: "fuse",
  0x00_c3_64_00: "ceph",
  0x53_46_41_4f: "afs",
  0x6b_41_46_53: "afs",
  0x73_75_72_45: "coda",
  0x0b_d0_0b_d0: "lustre",
  0x47_50_46_53: "gpfs",
  0x01_16_19_70: "gfs2",
  0x74_61_63_6f: "ocfs2",
  0x19_83_03_26: "beegfs",
  0xaa_d7_aa_ea: "panfs",
  0x78_6f_42_56: "vboxsf",
  0x7c_7c_66_73: "prl_fs",
  0xba_ca_ca_ab: "vmhgfs",
  0x56_4c: "ncp",
}
const EPHEMERAL: Readonly<Record<number, string>> = {
  0x01_02_19_94: "tmpfs",
  0x85_84_58_f6: "ramfs",
  0x79_4c_76_30: "overlay",
}

/** Only Linux numbers its file systems this way; elsewhere everything counts as local. */
export function fileSystemType(folder: string): number | null {
  return process.platform === "linux" ? statfsSync(folder).type : null
}

export function classifyFileSystem(type: number | null): FileSystem {
  if (type === null) return { kind: "local", name: "unknown" }
  // Some kernels and runtimes hand the number over signed.
  const unsigned = type < 0 ? type + 2 ** 32 : type
  const network = NETWORK[unsigned]
  if (network !== undefined) return { kind: "network", name: network }
  const ephemeral = EPHEMERAL[unsigned]
  if (ephemeral !== undefined) return { kind: "ephemeral", name: ephemeral }
  return { kind: "local", name: `0x${unsigned.toString(16)}` }
}
