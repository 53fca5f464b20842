import type { ConsolePage } from '../../contract/console-pages.ts';
import type { OperationId } from '../../contract/routes.ts';
import type { ImportPage } from '../state/page-code.ts';

/** A page of the console: its name in the rail, the palette and key shortcuts, and its code. */
export interface PageEntry {
  readonly name: Exclude<ConsolePage, 'sign-in'>;
  readonly title: string;
  /** Second key of the shortcut `g …`. */
  readonly key: string;
  readonly icon: string;
  /** The operation that the page requires. The page is hidden from users without this permission. */
  readonly needs: OperationId;
  readonly load: ImportPage;
}

export const pages: readonly PageEntry[] = [
  {
    name: 'overview',
    title: 'Overview',
    key: 'o',
    icon: 'M3 13h5V3H3zm7 4h7V9h-7zM3 17h5v-2H3zm7-10h7V3h-7z',
    needs: 'getDashboard',
    load: () => import('./overview/page.tsx'),
  },
  {
    name: 'alerts',
    title: 'Alerts',
    key: 'a',
    icon: 'M10 2 1.5 17h17zm0 5v5m0 2v1.5',
    needs: 'listAlerts',
    load: () => import('./alerts/page.tsx'),
  },
  {
    name: 'events',
    title: 'Events',
    key: 'e',
    icon: 'M3 5h14M3 10h14M3 15h9',
    needs: 'listNetworkEvents',
    load: () => import('./events/page.tsx'),
  },
  {
    name: 'assets',
    title: 'Assets',
    key: 's',
    icon: 'M3 4h14v9H3zm5 13h4m-2-4v4',
    needs: 'listAssets',
    load: () => import('./assets/page.tsx'),
  },
  {
    name: 'topology',
    title: 'Topology',
    key: 't',
    icon: 'M5 5h.01M15 5h.01M10 15h.01M5 5l5 10 5-10z',
    needs: 'getTopology',
    load: () => import('./topology/page.tsx'),
  },
  {
    name: 'discovery',
    title: 'Discovery',
    key: 'd',
    icon: 'M9 3a6 6 0 1 0 0 12A6 6 0 0 0 9 3m4.5 10.5L18 18',
    needs: 'listScans',
    load: () => import('./discovery/page.tsx'),
  },
  {
    name: 'transparency',
    title: 'Transparency',
    key: 'l',
    icon: 'M10 2 18 10 10 18 2 10zm0 5 3 3-3 3-3-3z',
    needs: 'getTreeHead',
    load: () => import('./transparency/page.tsx'),
  },
  {
    name: 'administration',
    title: 'Administration',
    key: 'm',
    icon: 'M4 6h12M4 14h12M7 4v4m6 4v4',
    // Every user has an account view. The other views are checked individually.
    needs: 'whoAmI',
    load: () => import('./administration/page.tsx'),
  },
  {
    name: 'status',
    title: 'Health',
    key: 'h',
    icon: 'M2 10h4l2-6 4 12 2-6h4',
    needs: 'getStatus',
    load: () => import('./status/page.tsx'),
  },
  {
    name: 'docs',
    title: 'Docs',
    key: 'i',
    icon: 'M7 5 2 10l5 5m6-10 5 5-5 5',
    needs: 'getOpenApi',
    load: () => import('./docs/page.tsx'),
  },
];
