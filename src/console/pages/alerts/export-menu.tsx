import { useState } from 'preact/hooks';
import type { AlertExport } from '../../../contract/vocabulary.ts';
import { api } from '../../state/session.ts';
import { Menu } from '../../ui/menu.tsx';
import { say, sayFailure } from '../../ui/toasts.tsx';
import type { Filters } from './question.ts';

const endings: Readonly<Record<AlertExport, string>> = { ndjson: '.ndjson', ocsf: '.ocsf.ndjson' };

/** All alerts that match, as a file. */
export function ExportMenu({ query }: { query: Filters }) {
  const [busy, setBusy] = useState(false);
  const save = async (format: AlertExport) => {
    setBusy(true);
    try {
      const text = await api.call('exportAlerts', { query: { ...query, format } as never });
      const at = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
      const url = URL.createObjectURL(new Blob([text], { type: 'application/x-ndjson' }));
      const link = document.createElement('a');
      link.href = url;
      link.download = `alerts-${at}${endings[format]}`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(url), 60_000);
      say(`Exported to ${link.download}.`);
    } catch (error) {
      sayFailure('The export failed', error);
    }
    setBusy(false);
  };
  return (
    <Menu
      class="button"
      label={busy ? 'Exporting' : 'Export'}
      items={() => [
        { title: 'NDJSON, as the list has them', run: () => void save('ndjson') },
        { title: 'OCSF 1.5 detection findings', run: () => void save('ocsf') },
      ]}
    >
      {busy ? 'Exporting …' : 'Export ▾'}
    </Menu>
  );
}
