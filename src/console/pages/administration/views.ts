import type { OperationId } from '../../../contract/routes.ts';
import type { ImportPage } from '../../state/page-code.ts';

/** A view of the administration page, and the operation that it requires. */
export interface AdministrationView {
  readonly value: string;
  readonly title: string;
  readonly needs: OperationId;
  readonly load: ImportPage;
}

/** All views in display order. The first permitted view is the default. */
export const views: readonly AdministrationView[] = [
  { value: 'rules', title: 'Rules', needs: 'listRules', load: () => import('./rules/view.tsx') },
  { value: 'silences', title: 'Silences', needs: 'listSilences', load: () => import('./silences/view.tsx') },
  { value: 'intel', title: 'Intel', needs: 'listIntel', load: () => import('./intel/view.tsx') },
  {
    value: 'principals',
    title: 'Principals',
    needs: 'listPrincipals',
    load: () => import('./principals/view.tsx'),
  },
  { value: 'tokens', title: 'Tokens', needs: 'listTokens', load: () => import('./tokens/view.tsx') },
  { value: 'policy', title: 'Policy', needs: 'getPolicy', load: () => import('./policy/view.tsx') },
  { value: 'keys', title: 'Keys', needs: 'listKeys', load: () => import('./keys/view.tsx') },
  {
    value: 'configuration',
    title: 'Configuration',
    needs: 'getConfig',
    load: () => import('./configuration/view.tsx'),
  },
  { value: 'backups', title: 'Backups', needs: 'listBackups', load: () => import('./backups/view.tsx') },
  { value: 'audit', title: 'Audit', needs: 'listAuditRecords', load: () => import('./audit/view.tsx') },
  { value: 'account', title: 'Account', needs: 'whoAmI', load: () => import('./account/view.tsx') },
];
