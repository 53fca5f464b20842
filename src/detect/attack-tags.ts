import type { Finding } from '../events/finding.ts';

/** Tactics of MITRE ATT&CK for Enterprise (v16): tag name to identifier. */
const tactics: ReadonlyMap<string, string> = new Map([
  ['reconnaissance', 'TA0043'],
  ['resource-development', 'TA0042'],
  ['initial-access', 'TA0001'],
  ['execution', 'TA0002'],
  ['persistence', 'TA0003'],
  ['privilege-escalation', 'TA0004'],
  ['defense-evasion', 'TA0005'],
  ['credential-access', 'TA0006'],
  ['discovery', 'TA0007'],
  ['lateral-movement', 'TA0008'],
  ['collection', 'TA0009'],
  ['command-and-control', 'TA0011'],
  ['exfiltration', 'TA0010'],
  ['impact', 'TA0040'],
]);

/**
 * Reads the tags of the namespace `attack` (Sigma tags 2.1.0). Returns undefined if no tag names a tactic or
 * technique.
 */
export function mitreOf(tags: readonly string[]): Finding['mitre'] {
  const found = { tactics: new Set<string>(), techniques: new Set<string>() };
  for (const tag of tags) {
    const [, name] = /^attack\.(.+)$/i.exec(tag) ?? [];
    if (name === undefined) continue;
    const tactic = tactics.get(name.toLowerCase().replaceAll('_', '-'));
    if (tactic !== undefined) found.tactics.add(tactic);
    else if (/^ta\d{4}$/i.test(name)) found.tactics.add(name.toUpperCase());
    else if (/^t\d{4}(\.\d{3})?$/i.test(name)) found.techniques.add(name.toUpperCase());
  }
  if (found.tactics.size + found.techniques.size === 0) return undefined;
  return { tactics: [...found.tactics], techniques: [...found.techniques] };
}
