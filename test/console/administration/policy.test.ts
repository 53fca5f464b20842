import { expect, test } from 'vitest';
import {
  differences,
  type Rules,
  readRules,
  rebased,
  rowsOf,
  textOf,
  withPublic,
  withRole,
} from '../../../src/console/pages/administration/policy/draft.ts';
import { operationIds, routeOf } from '../../../src/contract/routes.ts';
import { checkRules } from '../../../src/identities/policy/access-rules.ts';

const usual: Rules = operationIds.map((operation) => {
  const { access } = routeOf(operation);
  return access === 'public'
    ? { operation, access, roles: [] }
    : { operation, access: 'roles' as const, roles: [...access] };
});

test('a policy survives the round trip through the editor, and the service accepts it', () => {
  const read = readRules(textOf(usual));
  expect(read).toEqual({ rules: usual });
  expect(differences(usual, 'rules' in read ? read.rules : [])).toEqual([]);
  expect(checkRules(usual)).toHaveLength(operationIds.length);
});

test('every change offered by the table results in a policy that the service accepts', () => {
  for (const { operation, isFixed, isPublic, mayBePublic } of rowsOf(usual)) {
    if (isFixed) continue;
    if (mayBePublic) expect(() => checkRules(withPublic(usual, operation, !isPublic))).not.toThrow();
    if (!isPublic) expect(() => checkRules(withRole(usual, operation, 'auditor'))).not.toThrow();
  }
});

test('the policy editor lists changes by operation, for any order of roles', () => {
  const after = withPublic(withRole(usual, 'updateAlert', 'viewer'), 'getOpenApi', false);
  expect(differences(usual, after)).toEqual([
    { operation: 'updateAlert', before: 'admin, analyst', after: 'admin, analyst, viewer' },
    { operation: 'getOpenApi', before: 'public', after: 'no roles' },
  ]);
  expect(differences(after, withRole(after, 'updateAlert', 'viewer'))).toHaveLength(1);
  const less = usual.filter(({ operation }) => operation !== 'updateAlert');
  expect(differences(usual, less)).toEqual([{ operation: 'updateAlert', before: 'admin, analyst', after: undefined }]);
  expect(withRole(less, 'updateAlert', 'viewer').at(-1)).toEqual({
    operation: 'updateAlert',
    access: 'roles',
    roles: ['viewer'],
  });
});

test('the policy editor reports why a text is not a policy, with the number of an invalid rule', () => {
  expect(readRules('{')).toEqual({ fault: expect.stringContaining('Invalid JSON') });
  expect(readRules('null')).toHaveProperty('fault');
  expect(readRules('[]')).toHaveProperty('fault');
  expect(readRules('{"rules":[{"operation":"login","access":"public","roles":[]},{"operation":1}]}')).toEqual({
    fault: expect.stringContaining('Rule 2'),
  });
});

test("the policy editor reapplies the user's changes to a newer version, and keeps the changes of that version", () => {
  const mine = withPublic(withRole(usual, 'updateAlert', 'viewer'), 'getOpenApi', false);
  const theirs = withRole(withRole(usual, 'updateAlert', 'auditor'), 'deleteAsset', 'analyst');
  const both = rebased(usual, mine, theirs);
  expect(differences(theirs, both)).toEqual([
    { operation: 'updateAlert', before: 'admin, analyst, auditor', after: 'admin, analyst, viewer' },
    { operation: 'getOpenApi', before: 'public', after: 'no roles' },
  ]);
  expect(rebased(usual, usual, theirs)).toEqual(theirs);
});

test('the policy editor keeps added and removed rules when reapplying changes', () => {
  const without = usual.filter(({ operation }) => operation !== 'updateAlert');
  const theirs = withRole(usual, 'updateAlert', 'auditor');
  expect(differences(theirs, rebased(usual, without, theirs))).toEqual([
    { operation: 'updateAlert', before: 'admin, analyst, auditor', after: undefined },
  ]);
  expect(differences(without, rebased(without, usual, without))).toEqual([
    { operation: 'updateAlert', before: undefined, after: 'admin, analyst' },
  ]);
});
