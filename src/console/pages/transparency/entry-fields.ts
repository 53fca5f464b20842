/** The fields common to all kinds of entries. The texts can be hostile and of any length. */
export interface EntryShown {
  readonly id: string;
  readonly kind: string;
  readonly actor: string | undefined;
  readonly occurredAt: string | undefined;
  readonly subject: { readonly type: string; readonly id: string } | undefined;
  /** Summary in one line. Its contents depend on the kind. */
  readonly title: string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined;

/** Reads an entry that is JSON of any kind. Fields of unexpected form are omitted. */
export function entryOf(entry: unknown): EntryShown {
  const fields = fieldsOf(entry);
  const subject = fieldsOf(fields.subject);
  const type = textOf(subject.type);
  const id = textOf(subject.id);
  return {
    id: textOf(fields.id) ?? '',
    kind: textOf(fields.kind) ?? '',
    actor: textOf(fields.actor),
    occurredAt: textOf(fields.occurred_at),
    subject: type === undefined || id === undefined ? undefined : { type, id },
    title: titleOf(textOf(fields.kind) ?? '', fieldsOf(fields.data)),
  };
}

/** Returns the summary: the title, name or numbers of the entry, or the counts of a rule change. */
function titleOf(kind: string, data: Fields): string | undefined {
  const text = (name: string) => textOf(data[name]);
  const change = () => (data.from === undefined ? undefined : `${listed(data.from)} → ${listed(data.to)}`);
  switch (kind) {
    case 'alert.raised':
      return joined([text('severity'), text('title')], ': ');
    case 'principal.provisioned':
      return joined([text('name'), listed(data.roles)], ', ');
    case 'principal.password_reset':
      return text('name');
    case 'principal.status_changed':
    case 'principal.role_changed':
      return change();
    case 'policy.reloaded':
    case 'policy.rule_edited':
    case 'detection.reloaded':
      return `version ${text('version') ?? '?'}: +${text('added_count') ?? 0} −${text('removed_count') ?? 0} ~${text('changed_count') ?? 0}`;
    case 'key.rotated':
      return joined([text('purpose'), text('new_kid')], ' → ');
    case 'key.revoked':
    case 'key.retired':
      return joined([text('purpose'), text('reason')], ': ');
    case 'verdict.overridden':
      return joined([text('verdict'), text('reason')], ': ');
    case 'events.expired':
      return joined([text('count'), text('table'), text('reason')], ' ');
    case 'events.sealed':
      return (Array.isArray(data.ranges) ? data.ranges : [])
        .map(
          (range) =>
            `${textOf(range?.rows) ?? '?'} ${textOf(range?.table) ?? ''} from ${textOf(range?.first_seq) ?? '?'}`,
        )
        .join(', ');
    case 'checkpoint.timestamped':
      return joined([text('gen_time'), text('authority')], ' ');
    case 'log.life_started':
      return joined([text('reason'), text('origin')], ': ');
    case 'backup.created':
      return text('files') && `${text('files')} files`;
    default:
      return undefined;
  }
}

const listed = (value: unknown): string =>
  Array.isArray(value) ? value.map((one) => textOf(one) ?? '').join(', ') : (textOf(value) ?? '');

function joined(parts: readonly (string | undefined)[], between: string): string | undefined {
  const there = parts.filter((part) => part !== undefined && part !== '');
  return there.length === 0 ? undefined : there.join(between);
}
