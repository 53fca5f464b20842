import type { Rule } from '../../../../contract/resources/rule.ts';

/** How rules are told apart, in words; pure. */

/** Whether it is applied: one that cannot be is not, whatever it is set to. */
export type RuleState = 'on' | 'off' | 'broken';

export const stateOf = ({ enabled, errors }: Pick<Rule, 'enabled' | 'errors'>): RuleState =>
  errors.length > 0 ? 'broken' : enabled ? 'on' : 'off';

export const origins: Readonly<Record<Rule['origin'], string>> = {
  shipped: 'with the program',
  folder: 'folder of rules',
  api: 'made here',
};

/** What it looks at, in a line: `zeek / ssl`, `firewall`. */
export function logsourceText(logsource: Rule['logsource']): string {
  const parts = ['category', 'product', 'service'].flatMap((name) => {
    const value = logsource[name];
    return typeof value === 'string' ? [value] : [];
  });
  return parts.join(' / ');
}

/** Where a rule is being written: a first one to change. */
export const firstRule = (id: string): string => `title: What it detects, in a line
id: ${id}
status: experimental
description: What it means when it is found, and what to do then.
logsource:
  category: firewall
detection:
  selection:
    dst_port: 4444
  condition: selection
level: medium
`;

/** The same rule under another name: two may not have one id. */
export function copyOf(source: string, id: string): string {
  const withId = /^id:.*$/m.test(source) ? source.replace(/^id:.*$/m, `id: ${id}`) : `id: ${id}\n${source}`;
  return withId.replace(/^title: *(.*)$/m, (_, title: string) =>
    /^['"]/.test(title) ? `title: ${title}` : `title: ${title} (copy)`,
  );
}

/** Of a text, where a line begins and ends, in characters. Lines count from 1. */
export function lineBounds(text: string, line: number): readonly [number, number] {
  const lines = text.split('\n');
  const at = Math.max(0, Math.min(line, lines.length) - 1);
  const start = lines.slice(0, at).reduce((length, before) => length + before.length + 1, 0);
  return [start, start + (lines[at]?.length ?? 0)];
}
