"""Write the committed Lightning artefact: python make_lightning.py [FOLDER], with ``torch`` and ``lightning``."""

import logging
import shutil
import sys
import warnings
from pathlib import Path

import lightning as L
import torch
from lightning.pytorch.loggers import CSVLogger


class Model(L.LightningModule):
    """One weight that moves towards 1 by a known factor at each step."""

    def __init__(self, **settings):
        super().__init__()
        self.save_hyperparameters(settings)
        self.weight = torch.nn.Parameter(torch.zeros(1))

    def training_step(self, *_):
        loss = ((self.weight - 1) ** 2).sum()
        self.log("train_loss", loss, on_step=True, on_epoch=True)
        return loss

    def validation_step(self, *_):
        value = self.weight.sum()
        self.log("val_acc", value / 0 if self.hparams.lr > 1 else value)

    def test_step(self, *_):
        self.log("test_acc", self.weight.sum() - 0.1)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.hparams.lr)


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "lightning"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    warnings.simplefilter("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    batches = torch.utils.data.DataLoader(torch.zeros(4, 1), batch_size=2)
    for place, lr in enumerate([0.1, 0.2, 2.0]):
        trainer = L.Trainer(
            max_epochs=3,
            logger=CSVLogger(folder / "logs", name="cnn"),
            enable_progress_bar=False,
            enable_checkpointing=False,
            enable_model_summary=False,
            accelerator="cpu",
            log_every_n_steps=1,
            num_sanity_val_steps=0,
        )
        model = Model(lr=lr, betas=(0.9, 0.99), act=torch.nn.ReLU, seed=place)
        trainer.fit(model, batches, batches)
        trainer.test(model, batches, verbose=False)
    versions = f"lightning {L.__version__}\ntorch {torch.__version__}\npython {sys.version.split()[0]}\n"
    (folder / "VERSIONS").write_text(versions)
