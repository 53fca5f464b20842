import type { EntryKind } from '../../../../contract/vocabulary.ts';

/** The contents that all readers of the log can see, by kind of log entry. */
const contents: Readonly<Partial<Record<EntryKind, string>>> = {
  'detection.reloaded':
    'title, level and state of what changed, and the SHA-256 of its source, but not the source itself',
  'principal.provisioned': 'name, kind and roles of the new principal',
  'principal.role_changed': 'the old and new roles',
  'principal.status_changed': 'the new status',
  'token.issued': 'the ID of the token only',
  'token.revoked': 'the ID of each revoked token only',
  'policy.rule_edited': 'old and new version of each changed rule',
  'policy.reloaded': 'old and new version of each changed rule',
  'key.rotated': 'purpose, old key, new key and its fingerprint',
  'key.retired': 'the retired key',
  'key.revoked': 'the revoked key, your reason, and the new key',
  'backup.created': 'size, SHA-256 of the manifest, and tree head of the backed-up log',
};

/** Notice before an action: the log entries that the action causes, and their contents. */
export function Logged({ as: kinds }: { as: readonly EntryKind[] }) {
  if (kinds.length === 0) return null;
  return (
    <div class="admin-note">
      <p>
        <strong>This will be recorded in the public log</strong>, permanently and with your identity:
      </p>
      <ul>
        {kinds.map((kind) => (
          <li key={kind}>
            <code>{kind}</code>
            {contents[kind] !== undefined && <span class="quiet"> contains {contents[kind]}.</span>}
          </li>
        ))}
      </ul>
    </div>
  );
}
