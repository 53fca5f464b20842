import { useState } from 'preact/hooks';
import type { AlertExport } from '../../../contract/vocabulary.ts';
import { useSaving } from '../../state/saving.ts';
import { api } from '../../state/session.ts';
import { Choice } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { counted } from '../../ui/format.ts';
import { SaveAs } from '../../ui/save-progress.tsx';
import { say } from '../../ui/toasts.tsx';
import type { Filters } from './question.ts';

const forms = {
  ndjson: { title: 'NDJSON', ending: '.ndjson', says: 'one JSON object per line, as in the API' },
  ocsf: {
    title: 'OCSF 1.5',
    ending: '.ocsf.ndjson',
    says: 'one detection finding per line, for other tools',
  },
} as const satisfies Record<AlertExport, object>;

/** Dialog to export all matching alerts to a file. */
export function ExportDialog({
  query,
  total,
  onClose,
}: {
  query: Filters;
  total: number | undefined;
  onClose: () => void;
}) {
  const [format, setFormat] = useState<AlertExport>('ndjson');
  const saving = useSaving();
  const start = async () => {
    const at = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
    const saved = await saving.start(`alerts-${at}${forms[format].ending}`, (signal) =>
      api.stream('exportAlerts', { query: { ...query, format } as never, signal }),
    );
    if (saved === undefined) return;
    say(`${counted(saved.lines, 'alert')} exported.`);
    onClose();
  };
  return (
    <Dialog title="Export alerts" onClose={onClose}>
      <p>
        Exports {total === undefined ? 'all matching alerts' : counted(total, 'matching alert')} in the time range,
        oldest first.
      </p>
      <div class="row">
        <Choice
          label="Format"
          options={(Object.keys(forms) as AlertExport[]).map((value) => ({
            value,
            title: forms[value].title,
          }))}
          value={format}
          onChange={setFormat}
        />
        <span class="quiet">{forms[format].says}</span>
      </div>
      <SaveAs saving={saving} onStart={() => void start()} total={total} />
    </Dialog>
  );
}
