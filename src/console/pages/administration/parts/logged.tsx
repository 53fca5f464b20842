import type { EntryKind } from '../../../../contract/vocabulary.ts';

/** What an entry of each kind tells all who may read the log. */
const tells: Readonly<Partial<Record<EntryKind, string>>> = {
  'detection.reloaded':
    'the title, level and state of what changed, and the SHA-256 of how it is written, not the text itself',
  'principal.provisioned': 'the name, the kind and the roles of who is added',
  'principal.role_changed': 'the roles before and from now on',
  'principal.status_changed': 'that the status changed, and to what',
  'token.issued': 'the identifier of the token, and nothing else of it',
  'token.revoked': 'the identifier of each token that ends, and nothing else of it',
  'policy.rule_edited': 'every rule that changes, before and after',
  'policy.reloaded': 'every rule that changes, before and after',
  'key.rotated': 'the purpose, the key that goes, the key that comes and its fingerprint',
  'key.retired': 'which key is given up',
  'key.revoked': 'which key, the reason that you give, and the key that takes its place',
  'backup.created': 'its size, the SHA-256 of its manifest, and the tree head with which its log ends',
};

/** Says before something is done that it will stand in the log for good, and what of it. */
export function Logged({ as: kinds }: { as: readonly EntryKind[] }) {
  if (kinds.length === 0) return null;
  return (
    <div class="admin-note">
      <p>
        <strong>This will be recorded in the public log.</strong> It stands there for good, with your
        identity:
      </p>
      <ul>
        {kinds.map((kind) => (
          <li key={kind}>
            <code>{kind}</code>
            {tells[kind] !== undefined && <span class="quiet"> tells {tells[kind]}.</span>}
          </li>
        ))}
      </ul>
    </div>
  );
}
