import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { useKeys } from '../state/keys.ts';
import { Button } from './button.tsx';
import './dialog.css';

/** Shown above everything until it is closed; the browser keeps the focus in it. */
export function Dialog({
  title,
  onClose,
  children,
  wide = false,
}: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  wide?: boolean;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const closed = useRef(onClose);
  closed.current = onClose;
  // Before the next key: what is typed right after belongs to the dialog.
  useLayoutEffect(() => {
    const shown = dialog.current;
    const close = () => closed.current();
    shown?.addEventListener('close', close);
    shown?.showModal();
    return () => {
      // Closed before it goes, so that the focus returns to where it was.
      shown?.removeEventListener('close', close);
      shown?.close();
    };
  }, []);
  useKeys(`Dialog: ${title}`, {});
  return (
    <dialog
      ref={dialog}
      class={wide ? 'dialog dialog-wide' : 'dialog'}
      aria-labelledby={heading}
      onClick={(event) => {
        // Beside the dialog, which its body covers.
        if (event.target === dialog.current) dialog.current?.close();
      }}
    >
      <div class="dialog-body">
        <div class="dialog-head">
          <h2 id={heading}>{title}</h2>
          <Button kind="plain" aria-label="Close" onClick={() => dialog.current?.close()}>
            ✕
          </Button>
        </div>
        {children}
      </div>
    </dialog>
  );
}
