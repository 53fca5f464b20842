import type { Rule } from '../../../../contract/resources/rule.ts';

/** Descriptions of rules. */

/** State of a rule. A rule with errors is broken, whether or not it is enabled. */
export type RuleState = 'on' | 'off' | 'broken';

export const stateOf = ({ enabled, errors }: Pick<Rule, 'enabled' | 'errors'>): RuleState =>
  errors.length > 0 ? 'broken' : enabled ? 'on' : 'off';

export const origins: Readonly<Record<Rule['origin'], string>> = {
  shipped: 'built-in',
  folder: 'rules folder',
  api: 'custom',
};

/** Describes the log source in one line: `zeek / ssl`, `firewall`. */
export function logsourceText(logsource: Rule['logsource']): string {
  const parts = ['category', 'product', 'service'].flatMap((name) => {
    const value = logsource[name];
    return typeof value === 'string' ? [value] : [];
  });
  return parts.join(' / ');
}

/** Returns the template of a new rule. */
export const firstRule = (id: string): string => `title: Short name of what the rule detects
id: ${id}
status: experimental
description: The meaning of a match, and how to check it.
logsource:
  category: firewall
detection:
  selection:
    dst_port: 4444
  condition: selection
level: medium
`;

/** Returns a copy of a rule with this ID. Appends `(copy)` to the title, unless the title is quoted. */
export function copyOf(source: string, id: string): string {
  const withId = /^id:.*$/m.test(source) ? source.replace(/^id:.*$/m, `id: ${id}`) : `id: ${id}\n${source}`;
  return withId.replace(/^title: *(.*)$/m, (_, title: string) =>
    /^['"]/.test(title) ? `title: ${title}` : `title: ${title} (copy)`,
  );
}

/** Returns the start and end of a line, in characters. Line numbers start at 1. */
export function lineBounds(text: string, line: number): readonly [number, number] {
  const lines = text.split('\n');
  const at = Math.max(0, Math.min(line, lines.length) - 1);
  const start = lines.slice(0, at).reduce((length, before) => length + before.length + 1, 0);
  return [start, start + (lines[at]?.length ?? 0)];
}
