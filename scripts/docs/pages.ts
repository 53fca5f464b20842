import { settingNames, settingOf, variableOf } from '../../src/config/settings.ts';
import { errorCodes } from '../../src/errors.ts';
import { limitMeanings, limits } from '../../src/limits.ts';

/** Pages of the documentation that are generated from tables in the code, by file name in `src/docs`. */
export const generatedPages: Readonly<Record<string, () => string>> = {
  'settings.md': settingsPage,
  'troubleshooting.md': troubleshootingPage,
};

function settingsPage(): string {
  const groups = Map.groupBy(settingNames, (name) => (name.includes('.') ? name.split('.')[0]! : 'general'));
  const sections = [...groups].map(([group, names]) => {
    const rows = names.map((name) => {
      const { schema, default: value, reason, secret, readOnly } = settingOf(name);
      const notes = [
        sentence(reason),
        ...(secret === true ? ['Secret: environment or file only.'] : []),
        ...(readOnly === undefined ? [] : [`Not changeable over HTTP: ${sentence(readOnly)}`]),
      ];
      return [`\`${name}\` \`${variableOf(name)}\``, shownDefault(name, value), valuesOf(schema), notes.join(' ')];
    });
    return `## ${group}\n\n${table(['setting, variable', 'default', 'values', 'purpose'], rows)}`;
  });
  return `# Settings

Settings come from the environment, from a file (YAML or JSON, named by \`CANDOR_CONFIG\`; \`config.json\` in the data folder
without it), or from the defaults, in this order of precedence. \`GET /api/v1/config\` lists them with their sources;
\`PUT /api/v1/config\` and *Administration → Configuration* store changes in the file, which take effect at the next start.

\`\`\`sh
curl -X PUT localhost:8080/api/v1/config -H "authorization: Bearer $access" -H 'content-type: application/json' \\
  -d '{"settings":{"log.level":"warn","network":{"home":["10.0.0.0/8"]},"port":null}}'    # null restores the default
\`\`\`

${sections.join('\n\n')}
`;
}

function troubleshootingPage(): string {
  const codes = Object.entries(errorCodes).map(([code, { status, retry, meaning }]) => [
    `\`${code}\``,
    String(status),
    retry ? 'yes' : 'no',
    meaning,
  ]);
  const reached = Object.entries(limitMeanings).map(([name, meaning]) => [
    `\`${name}\``,
    limits[name as keyof typeof limits].toLocaleString('en'),
    meaning,
  ]);
  return `# Troubleshooting

Start with *Health* in the console, or \`GET /health\` and \`GET /api/v1/status\`: they name faults, rejected records and limits
that were reached. Faults and findings of the transparency log are explained in [recovery](transparency/recovery.md), records that
were not stored in [shippers](shippers.md).

## Error codes

Errors have a code, a message, and \`details\` with \`field\` and \`reason\` where one part of the request is at fault. Codes are
stable; messages are not.

${table(['code', 'HTTP', 'retry', 'meaning'], codes)}

## Limits

Status, health and the metric \`candor_limit_reached_total\` count how often a limit was reached. Values are bytes where the name
says so, and milliseconds where it ends in \`Ms\`.

${table(['limit', 'value', 'effect'], reached)}
`;
}

/** Defaults that depend on the machine are described in words, so that the page is the same everywhere. */
function shownDefault(name: string, value: unknown): string {
  if (name.startsWith('threads.')) return 'by the number of cores';
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return 'none';
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

function valuesOf(schema: Readonly<Record<string, unknown>>): string {
  const { type, minimum, maximum, enum: values, items, anyOf } = schema;
  if (Array.isArray(values)) return values.map((value) => `\`${value}\``).join(', ');
  if (Array.isArray(anyOf)) return anyOf.map(valuesOf).join(' or ');
  if (type === 'array') return `list of ${valuesOf(items as Record<string, unknown>)}`;
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`;
  if (schema.const !== undefined) return `\`${schema.const}\``;
  return { string: 'text', boolean: '`true`, `false`', object: 'object' }[String(type)] ?? String(type);
}

const sentence = (text: string) => `${text[0]!.toUpperCase()}${text.slice(1)}${/[.?]$/.test(text) ? '' : '.'}`;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
