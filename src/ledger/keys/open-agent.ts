import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentKeys, type AgentOptions, type ReportFault } from './agent-keys.ts';
import { hasPrivateKey, parseKeyFile } from './key-file.ts';
import type { KeyRing } from './key-ring.ts';

/**
 * Opens the agent if a setting or a key file of the ring names one, and attaches it to the ring. A failing agent is
 * reported; its keys cannot sign until it recovers.
 *
 * @param otherKeys - a further folder with keys that must not be used again
 */
export async function openAgent(
  dataDir: string,
  options: AgentOptions = { purposes: [], keys: [] },
  keys: KeyRing,
  report: ReportFault,
  otherKeys?: string,
): Promise<AgentKeys | undefined> {
  const held = keys.all().filter(({ file }) => file.svc_signer !== undefined && hasPrivateKey(file));
  if (held.length === 0 && options.purposes.length === 0) return undefined;
  const agent = await AgentKeys.open(options, await keysOfEarlierLogs(dataDir, otherKeys), report);
  keys.useAgent(agent);
  await agent.probe(held.filter(({ state }) => state === 'active').map(({ publicKey }) => publicKey));
  return agent;
}

/**
 * Returns the public keys (base64url) in the subfolders of the data folder that hold earlier logs, and in `otherKeys`.
 * A key serves one log, but an agent still offers the keys of earlier logs.
 */
async function keysOfEarlierLogs(dataDir: string, otherKeys?: string): Promise<Set<string>> {
  const used = new Set<string>();
  const entries = await readdir(dataDir, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(dataDir, name, 'keys'));
  for (const folder of otherKeys === undefined ? folders : [...folders, otherKeys]) {
    for (const name of await readdir(folder).catch(() => [])) {
      try {
        used.add(parseKeyFile(await readFile(join(folder, name), 'utf8')).x);
      } catch {
        // Ignore a damaged file of an earlier log.
      }
    }
  }
  return used;
}
