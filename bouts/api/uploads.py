"""Uploads over the API: multipart, all faults at once."""

from __future__ import annotations

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from bouts import tasks
from bouts.actions import uploads
from bouts.api.permissions import IsOperator, SignedInWithScope
from bouts.models import ApiToken, Upload


class UploadForm(serializers.Serializer):
    """A bundle or challenge. ``check`` validates it and stores nothing."""

    file = serializers.FileField()
    check = serializers.BooleanField(default=False)


class FaultSerializer(serializers.Serializer):
    file = serializers.CharField()
    field = serializers.CharField()
    found = serializers.CharField()
    expected = serializers.CharField()


class UploadSerializer(serializers.ModelSerializer):
    """An upload and what became of it."""

    check = serializers.BooleanField(source="is_check")
    match = serializers.CharField(source="bundle.match.slug", default=None, allow_null=True)
    challenge = serializers.CharField(
        source="challenge_version.challenge.slug", default=None, allow_null=True
    )
    faults = FaultSerializer(many=True)
    stages = serializers.ListField(child=serializers.DictField(child=serializers.CharField()))

    class Meta:
        model = Upload
        fields = (
            "id", "name", "size", "check", "state", "stages", "faults", "reason",
            "match", "challenge", "created_at", "finished_at",
        )  # fmt: skip


class UploadList(generics.ListCreateAPIView):
    """Uploads, newest first; posting a file takes one in.

    The answer comes when it is done: 201 stored, 200 unchanged or valid, 422 refused with
    all its faults. With ``Prefer: respond-async`` it comes at once, 202, and the upload's
    own address tells how far it has come.
    """

    serializer_class = UploadSerializer
    permission_classes = (SignedInWithScope, IsOperator)
    required_scope = ApiToken.Scope.UPLOAD
    parser_classes = (MultiPartParser,)
    filter_backends: list = []
    queryset = Upload.objects.select_related("bundle__match", "challenge_version__challenge")

    @extend_schema(request={"multipart/form-data": UploadForm}, responses={201: UploadSerializer})
    def post(self, request: Request) -> Response:
        form = UploadForm(data=request.data)
        form.is_valid(raise_exception=True)
        row = uploads.receive(
            form.validated_data["file"], by=request.user, is_check=form.validated_data["check"]
        )
        if "respond-async" in request.headers.get("Prefer", ""):
            tasks.ring(str(row.pk))
            return self._answer(row, 202)
        row = uploads.process(row.pk)
        return self._answer(row, STATUS[Upload.State(row.state)])

    def _answer(self, row: Upload, status: int) -> Response:
        address = self.request.build_absolute_uri(reverse("api:upload", args=[row.pk]))
        body = UploadSerializer(row).data
        if row.state == Upload.State.REFUSED:
            body["detail"] = "Refused. Nothing was stored."
        return Response(body, status=status, headers={"Location": address})


STATUS = {
    Upload.State.STORED: 201,
    Upload.State.UNCHANGED: 200,
    Upload.State.VALID: 200,
    Upload.State.REFUSED: 422,
    Upload.State.FAILED: 500,
}


class UploadDetail(generics.RetrieveAPIView):
    """One upload."""

    serializer_class = UploadSerializer
    permission_classes = (SignedInWithScope, IsOperator)
    required_scope = ApiToken.Scope.UPLOAD
    queryset = UploadList.queryset
    lookup_url_kwarg = "upload_id"
